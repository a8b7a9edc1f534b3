import Files
import Glibc
import Journal
import SQLiteJournal
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// kill -9 at every system call of a `release` that changes something.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct ReleaseKillTests {
        @Test func theDropIsInOnePlaceAndIsProcessedOnce() async throws {
            let count = try Self.trial(at: nil, again: false).calls
            let trials = try await Torture.forEach(Torture.spread(count + 2, most: 30)) { point in
                try Self.trial(at: point, again: point % 2 == 0)
            }
            let (killed, problems) = (trials.count { $0.wasKilled }, trials.flatMap(\.problems))
            Torture.say("kill -9 of a release: at \(killed) of \(count) system calls, \(problems.count) violations")
            #expect(killed > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        private struct Trial {
            var wasKilled = false
            var calls = 0
            var problems: [String] = []
        }

        /// Kills a release at a point, looks, releases `again`, and starts the daemon.
        private static func trial(at point: Int?, again: Bool) throws -> Trial {
            let site = try Site.plain()
            var trial = Trial()
            guard let content = try leaveUnfinished(site) else { return Trial(problems: ["no job was claimed"]) }
            let mill = site.mill
            let (inbox, state) = (mill.layout.inbox, ["--state-dir", mill.state.string])
            var fault = mill.fault()
            (fault.at, fault.log) = (point, mill.logs.appending("calls"))
            var release = try DropmillProcess(
                ["release", "a.zip"] + state, in: mill.logs, log: mill.logs.appending("release"),
                wrapper: fault.wrapper)
            trial.wasKilled = try release.wait() == 137
            let calls = try Faultline.calls(in: mill.logs.appending("calls"))
            trial.calls = calls.count
            func expect(_ isRight: Bool, _ problem: String) {
                guard !isRight else { return }
                let call = calls.last.map { "\($0.name) \($0.path) \($0.target)" } ?? ""
                trial.problems.append("before call \(point ?? 0), \(call): \(problem)")
            }
            func isBack() throws -> Bool { try ScratchFolder.read(inbox.appending("a.zip")) == content }
            let isThere = Folder.kind(of: inbox.appending("a.zip")) != nil
            if isThere { expect(try isBack(), "the drop is another") }
            expect(isThere || trial.wasKilled, "nothing came back: \(try release.text())")
            if again {
                let next = try Tool(DropmillProcess.binary).run(["release", "a.zip"] + state)
                expect(next.status == 0 || next.text.contains("is over: failed"), "the next release: \(next.text)")
                expect(try isBack(), "it is not back")
            }
            // Where the start ends the release the drop may come back after the last look at the inbox.
            for _ in 1...2 {
                let run = try mill.runOnce()
                expect(run.status == 0, "started again: \(run.log.suffix(500))")
            }
            for (name, folder) in [("outputs", mill.layout.output), ("originals", mill.layout.processed)] {
                let found = try Folder.names(in: folder).map(\.text)
                expect(found.count == 1, "\(name): \(found)")
            }
            let left = try Folder.names(in: inbox).map(\.text) + Folder.names(in: mill.layout.failed).map(\.text)
            expect(left.isEmpty, "left: \(left)")
            let journal = try SQLiteJournal.open(reading: mill.state)
            defer { journal.close() }
            expect(try journal.unfinished().isEmpty, "a job is unfinished")
            return trial
        }

        /// Kills a daemon while a job is at its first stage, which the pipeline does not have any more then. The drop.
        private static func leaveUnfinished(_ site: Site) throws -> [UInt8]? {
            try site.mill.build(first: "run: { command: [sleep, '600'] }")
            try site.mill.dropZip("a.zip")
            let mill = site.mill
            let content = try ScratchFolder.read(mill.layout.inbox.appending("a.zip"))
            var daemon = try mill.start(log: mill.logs.appending("log"))
            let end = MonotonicTime.now() + .seconds(60)
            var isRunning = false
            while !isRunning, MonotonicTime.now() < end {
                isRunning = try Tool(DropmillProcess.binary).run(
                    ["jobs", "--state", "running", "--state-dir", mill.state.string]
                ).text.contains("a.zip")
            }
            try daemon.end()
            try mill.build()
            return isRunning ? content : nil
        }
    }
}

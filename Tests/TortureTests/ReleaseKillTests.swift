import Files
import Glibc
import Journal
import SQLiteJournal
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// kill -9 at every system call of a `release` that changes something, or of a daemon that is told to release.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct ReleaseKillTests {
        /// Who releases the job: the verb, or a daemon where its pipeline is paused, or is not loaded.
        enum Doer: String, Sendable, CaseIterable {
            case verb, paused, removed
        }

        @Test(arguments: Doer.allCases) func theDropIsInOnePlaceAndIsProcessedOnce(_ doer: Doer) async throws {
            let whole = try Self.trial(at: nil, doer, again: false)
            #expect(whole.isAcknowledged && whole.problems.isEmpty, "\(whole.problems)")
            // What comes before is what other suites kill at, too.
            let before = Torture.isLong ? 0 : whole.callsBefore
            let count = whole.calls - before + (doer == .verb ? 2 : 0)
            let points = Torture.spread(count, most: doer == .verb ? 30 : 10).map { before + $0 }
            let trials = try await Torture.forEach(points) { point in
                var trial = try Self.trial(at: point, doer, again: point % 2 == 0)
                // How many calls a daemon makes differs from run to run: where there are fewer, one of the last counts.
                for back in 1...5 where doer != .verb && !trial.wasKilled && trial.problems.isEmpty {
                    trial = try Self.trial(at: max(1, trial.calls - back), doer, again: point % 2 == 0)
                }
                return trial
            }
            let (killed, problems) = (trials.count { $0.wasKilled }, trials.flatMap(\.problems))
            Torture.say(
                "kill -9 of a release, \(doer): at \(killed) of \(whole.calls) system calls, "
                    + "\(problems.count) violations"
            )
            #expect(killed > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        private struct Trial {
            var wasKilled = false
            var isAcknowledged = false
            var calls = 0
            /// How many of them were made before it was told.
            var callsBefore = 0
            var said = ""
            var problems: [String] = []
        }

        /// Kills a release at a point, looks, releases `again`, and starts the daemon.
        private static func trial(at point: Int?, _ doer: Doer, again: Bool) throws -> Trial {
            let site = try Site.plain()
            guard let content = try leaveUnfinished(site) else { return Trial(problems: ["no job was claimed"]) }
            let mill = site.mill
            try prepare(mill, for: doer)
            let inbox = mill.layout.inbox
            var fault = mill.fault()
            (fault.at, fault.log) = (point, mill.logs.appending("calls"))
            var trial = try doer == .verb ? release(mill, fault) : releaseByDaemon(mill, fault)
            let calls = try Faultline.calls(in: mill.logs.appending("calls"))
            trial.calls = calls.count
            func expect(_ isRight: Bool, _ problem: String) {
                guard !isRight else { return }
                let call = calls.last.map { "\($0.name) \($0.path) \($0.target)" } ?? ""
                trial.problems.append("\(doer), before call \(point ?? 0), \(call): \(problem)")
            }
            func isBack() throws -> Bool { try ScratchFolder.read(inbox.appending("a.zip")) == content }
            let isThere = Folder.kind(of: inbox.appending("a.zip")) != nil
            if isThere { expect(try isBack(), "the drop is another") }
            expect(isThere || trial.wasKilled, "nothing came back: \(trial.said)")
            if trial.isAcknowledged, trial.said.contains("its drop is '") {
                expect(isThere, "it is not where it was said")
            }
            if again {
                let next = try run(["release", "a.zip"], mill)
                expect(next.status == 0 || next.text.contains("is over: failed"), "the next release: \(next.text)")
                expect(try isBack(), "it is not back")
            }
            try goOn(mill, after: doer)
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
            expect(try journal.jobs(JobQuery()).allSatisfy { $0.state != .lost }, "a job is lost")
            return trial
        }

        private static func run(_ words: [String], _ mill: Mill) throws -> Tool.Output {
            try Tool(DropmillProcess.binary).run(words + ["--state-dir", mill.state.string], in: mill.logs)
        }

        private static func release(_ mill: Mill, _ fault: Faultline) throws -> Trial {
            var release = try DropmillProcess(
                ["release", "a.zip", "--state-dir", mill.state.string], in: mill.logs,
                log: mill.logs.appending("release"), wrapper: fault.wrapper)
            let status = try release.wait()
            return Trial(wasKilled: status == 137, isAcknowledged: status == 0, said: try release.text())
        }

        private static func releaseByDaemon(_ mill: Mill, _ fault: Faultline) throws -> Trial {
            var trial = Trial()
            var daemon = try mill.start(log: mill.logs.appending("daemon"), wrapper: fault.wrapper)
            let end = MonotonicTime.now() + .seconds(60)
            func isUp() throws -> Bool { try !daemon.hasEnded() && MonotonicTime.now() < end }
            while try isUp(), try !run(["status"], mill).text.hasPrefix("running since") {}
            trial.callsBefore = try Faultline.calls(in: mill.logs.appending("calls")).count
            while !trial.isAcknowledged, try isUp() {
                let told = try run(["release", "a.zip"], mill)
                (trial.isAcknowledged, trial.said) = (told.status == 0, told.text)
            }
            try daemon.send(SIGTERM)
            trial.wasKilled = try daemon.wait() == 137
            return trial
        }

        private static func file(_ name: String, _ mill: Mill) -> FilePath {
            mill.root.appending("pipelines").appending("\(name).yaml")
        }

        /// What is to be so before the daemon is told.
        private static func prepare(_ mill: Mill, for doer: Doer) throws {
            switch doer {
            case .verb: break
            case .paused: _ = try run(["pause"], mill)
            case .removed:
                let folders = ["inbox", "processed", "failed"].map { "\($0): \(mill.root.string)/other/\($0)\n" }
                try mill.write(Array((folders.joined() + "stages: [checksum]\n").utf8), to: file("other", mill))
                try Folder.remove(file("all", mill))
            }
        }

        /// All is as it was, so that the drop is processed.
        private static func goOn(_ mill: Mill, after doer: Doer) throws {
            switch doer {
            case .verb: break
            case .paused: _ = try run(["resume"], mill)
            case .removed:
                try mill.build()
                try Folder.remove(file("other", mill))
            }
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

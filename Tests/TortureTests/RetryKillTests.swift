import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// kill -9 at every system call of a `retry` that changes something, with `failed` on another file system, so that
    /// the original is copied.
    @Suite(.enabled(if: Faultline.isPossible && TemporaryMount.isPossible, "\(Faultline.skip)"))
    struct RetryKillTests {
        @Test func theDropIsProcessedOnce() async throws {
            let count = try Self.trial(at: nil, again: false).calls
            let trials = try await Torture.forEach(Torture.spread(count + 2, most: 30)) { point in
                try Self.trial(at: point, again: point % 2 == 0)
            }
            let (killed, problems) = (trials.count { $0.wasKilled }, trials.flatMap(\.problems))
            Torture.say("kill -9 of a retry: at \(killed) of \(count) system calls, \(problems.count) violations")
            #expect(killed > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        private struct Trial {
            var wasKilled = false
            var calls = 0
            var problems: [String] = []
        }

        /// Kills a retry at a point, looks, retries `again`, and starts the daemon.
        private static func trial(at point: Int?, again: Bool) throws -> Trial {
            let site = try Site.plain()
            let mill = site.mill
            let (failed, inbox) = (mill.layout.failed, mill.layout.inbox)
            let mount = try TemporaryMount(tmpfs: "size=512m,mode=755", at: failed)
            defer { withExtendedLifetime(mount) {} }
            try mill.build(first: "run: { command: ['false'] }")
            try site.mill.dropZip("a.zip")
            let content = try ScratchFolder.read(inbox.appending("a.zip"))
            var trial = Trial()
            let first = try mill.runOnce()
            guard Folder.kind(of: failed.appending("a.zip")) != nil else {
                return Trial(problems: ["it did not fail at first: \(first.log.suffix(500))"])
            }
            try mill.build()
            var fault = mill.fault()
            (fault.at, fault.log) = (point, mill.logs.appending("calls"))
            let words = ["retry", "a.zip", "--state-dir", mill.state.string]
            var retry = try DropmillProcess(
                words, in: mill.logs, log: mill.logs.appending("retry"), wrapper: fault.wrapper)
            trial.wasKilled = try retry.wait() == 137
            let calls = try Faultline.calls(in: mill.logs.appending("calls"))
            trial.calls = calls.count
            func expect(_ isRight: Bool, _ problem: String) {
                guard !isRight else { return }
                let call = calls.last.map { "\($0.name) \($0.path) \($0.target)" } ?? ""
                trial.problems.append("before call \(point ?? 0), \(call): \(problem)")
            }
            func isWhole(in folder: FilePath) throws -> Bool {
                guard Folder.kind(of: folder.appending("a.zip")) != nil else { return false }
                expect(try ScratchFolder.read(folder.appending("a.zip")) == content, "half in '\(folder.text)'")
                return true
            }
            let (isThere, isLeft) = (try isWhole(in: inbox), try isWhole(in: failed))
            expect(isThere || isLeft, "it is gone")
            expect(isThere || trial.wasKilled, "nothing came into the inbox: \(try retry.text())")
            if again || !isThere {
                let next = try Tool(DropmillProcess.binary).run(words)
                expect((next.status == 0) == isLeft, "the next retry: \(next.text)")
            }
            let run = try mill.runOnce()
            expect(run.status == 0, "started again: \(run.log.suffix(500))")
            for (name, folder) in [("outputs", mill.layout.output), ("originals", mill.layout.processed)] {
                let found = try Folder.names(in: folder).map(\.text)
                expect(found.count == 1, "\(name): \(found)")
            }
            let shown = try Tool(DropmillProcess.binary).run(["show", "a.zip", "--state-dir", mill.state.string]).text
            expect(shown.contains("retry of"), "show: \(shown)")
            if isLeft, isThere, !again {
                let late = try Tool(DropmillProcess.binary).run(["retry", "--failed", "--state-dir", mill.state.string])
                expect(late.text.contains("no failed job has its original in place"), "late: \(late.text)")
            }
            return trial
        }
    }
}

import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// kill -9 at every system call of a `replay` that changes something.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct ReplayKillTests {
        @Test func nothingIsLostAndNoCopyIsHalf() async throws {
            let count = try Self.trial(at: nil).calls
            let trials = try await Torture.forEach(Torture.spread(count + 2, most: 30)) { point in
                try Self.trial(at: point)
            }
            let (killed, problems) = (trials.count { $0.wasKilled }, trials.flatMap(\.problems))
            Torture.say("kill -9 of a replay: at \(killed) of \(count) system calls, \(problems.count) violations")
            #expect(killed > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        private struct Trial {
            var wasKilled = false
            var calls = 0
            var problems: [String] = []
        }

        /// Kills a replay at a point, looks, and starts the daemon.
        private static func trial(at point: Int?) throws -> Trial {
            let site = try Site.plain()
            try site.mill.dropZip("a.zip")
            let mill = site.mill
            var trial = Trial()
            guard try mill.runOnce().status == 0 else { return Trial(problems: ["the first run failed"]) }
            let (original, inbox) = (mill.layout.processed.appending("a.zip"), mill.layout.inbox)
            let content = try ScratchFolder.read(original)
            var fault = mill.fault()
            (fault.at, fault.log) = (point, mill.logs.appending("calls"))
            let words = ["replay", "a.zip", "--state-dir", mill.state.string]
            var replay = try DropmillProcess(
                words, in: mill.logs, log: mill.logs.appending("replay"), wrapper: fault.wrapper)
            trial.wasKilled = try replay.wait() == 137
            let calls = try Faultline.calls(in: mill.logs.appending("calls"))
            trial.calls = calls.count
            let isThere = Folder.kind(of: inbox.appending("a.zip")) != nil
            func expect(_ isRight: Bool, _ problem: String) {
                guard !isRight else { return }
                let call = calls.last.map { "\($0.name) \($0.path) \($0.target)" } ?? ""
                trial.problems.append("before call \(point ?? 0), \(call): \(problem)")
            }
            expect(try ScratchFolder.read(original) == content, "the original is another")
            if isThere { expect(try ScratchFolder.read(inbox.appending("a.zip")) == content, "the copy is another") }
            expect(isThere || trial.wasKilled, "nothing came into the inbox")
            let run = try mill.runOnce()
            expect(run.status == 0, "started again: \(run.log.suffix(500))")
            let outputs = try Folder.names(in: mill.layout.output).count
            expect(outputs == (isThere ? 2 : 1), "\(outputs) outputs")
            let again = try Folder.names(in: mill.layout.processed).count
            expect(again == (isThere ? 2 : 1), "\(again) originals")
            // Nothing is known of a copy that was made a moment ago; it is empty, and goes at the next replay.
            let left = try Folder.names(in: inbox)
            let isEmpty = left.allSatisfy { FileStatus.of(inbox.appending($0))?.st_size == 0 }
            expect(left.count <= 1 && isEmpty, "left in the inbox: \(left)")
            let shown = try Tool(DropmillProcess.binary).run(["show", "a.zip", "--state-dir", mill.state.string]).text
            expect(shown.contains("replay of") == isThere, "show: \(shown)")
            let next = try Tool(DropmillProcess.binary).run(words)
            expect(next.status == 0, "the next replay: \(next.text)")
            expect(try Folder.names(in: inbox).map(\.text) == ["a.zip"], "left by the next replay")
            return trial
        }
    }
}

import PipelineKit
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// kill -9 at every system call that changes something: nothing is lost, and the next start settles everything.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct KillPointTests {
        /// What one point led to.
        struct Trial: Sendable {
            let wasKilled: Bool
            let problems: [String]
        }

        /// Kills a run at a point, starts it again and looks at both moments.
        static func trial(at point: Int, _ prepare: (FilePath) throws -> (mill: Mill, copying: Bool)) throws -> Trial {
            let scratch = try ScratchFolder()
            let (mill, copying) = try prepare(scratch.path)
            var fault = mill.fault()
            fault.at = point
            fault.log = mill.logs.appending("calls")
            let killed = try mill.runOnce(fault)
            var problems = try mill.violations(.interrupted(copying: copying)).map { "killed: \($0)" }
            let again = try mill.runOnce()
            problems += try mill.violations(.settled).map { "started again: \($0)" }
            if again.status > 1 { problems.append("started again: exit status \(again.status): \(again.log.suffix(500))") }
            if !problems.isEmpty, let call = try Faultline.calls(in: mill.logs.appending("calls")).last {
                problems = problems.map { "before call \(point), \(call.name) \(call.path) \(call.target): \($0)" }
            }
            return Trial(wasKilled: killed.status == 137, problems: problems)
        }

        @Test func nothingIsLost() async throws {
            let scratch = try ScratchFolder()
            let count = try Self.mixed(scratch.path).mill.countCalls()
            // Threads take turns differently from run to run, and so some runs make a few calls more.
            let trials = try await Torture.forEach(Torture.spread(count + 3, most: 150)) { point in
                try Self.trial(at: point, Self.mixed)
            }
            let problems = trials.flatMap(\.problems)
            Torture.say(
                "kill -9 at \(trials.count { $0.wasKilled }) of \(count) system calls: \(problems.count) violations")
            #expect(trials.count { $0.wasKilled } > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        static func mixed(_ root: FilePath) throws -> (mill: Mill, copying: Bool) {
            var mill = Mill(at: root)
            try mill.build()
            try mill.dropMixed()
            return (mill, false)
        }
    }
}

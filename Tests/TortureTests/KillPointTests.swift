import PipelineKit
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// kill -9 at every system call that changes something: nothing is lost, and the next start settles everything.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct KillPointTests {
        @Test func nothingIsLost() async throws {
            try await Self.killEverywhere("one folder", most: 40) { try Site.plain() }
        }

        @Test func nothingIsLostOneAfterAnother() async throws {
            // Each job gets the folder of the one before.
            try await Self.killEverywhere("one after another", most: 40) { try Site.plain(["active: { jobs: 1 }"]) }
        }

        @Test(.enabled(if: TemporaryMount.isPossible, "needs root"))
        func nothingIsLostAcrossDevices() async throws {
            try await Self.killEverywhere("results on another device", most: 20) { try Site.otherDevice() }
        }

        @Test(.enabled(if: TemporaryMount.isPossible, "needs root"))
        func nothingIsLostAcrossMounts() async throws {
            try await Self.killEverywhere("results by another mount", most: 20) { try Site.otherMount() }
        }

        /// Kills a run at each of at most so many points.
        private static func killEverywhere(
            _ title: String, most: Int, _ build: @escaping @Sendable () throws -> Site
        ) async throws {
            let site = try build()
            try site.mill.dropMixed()
            let count = try site.mill.countCalls()
            // Threads take turns differently from run to run, and so some runs make a few calls more.
            let trials = try await Torture.forEach(Torture.spread(count + 3, most: most)) { point in
                try trial(at: point, build())
            }
            let problems = trials.flatMap(\.problems)
            let killed = trials.count { $0.wasKilled }
            Torture.say("kill -9, \(title): at \(killed) of \(count) system calls, \(problems.count) violations")
            #expect(killed > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        /// Kills a run at a point, starts it again and looks at both moments.
        private static func trial(at point: Int, _ site: Site) throws -> (wasKilled: Bool, problems: [String]) {
            try site.mill.dropMixed()
            let mill = site.mill
            let log = mill.logs.appending("calls")
            var fault = mill.fault()
            fault.at = point
            fault.log = log
            let killed = try mill.runOnce(fault)
            var problems = try mill.violations(.interrupted(copying: site.isCopying)).map { "killed: \($0)" }
            let again = try mill.runOnce()
            problems += try mill.violations(.settled).map { "started again: \($0)" }
            if again.status > 1 {
                problems.append("started again: exit status \(again.status): \(again.log.suffix(500))")
            }
            if !problems.isEmpty, let call = try Faultline.calls(in: log).last {
                problems = problems.map { "before call \(point), \(call.name) \(call.path) \(call.target): \($0)" }
            }
            return (killed.status == 137, problems)
        }
    }
}

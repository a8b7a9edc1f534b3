import PipelineKit
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// Power cuts for real: an ext4 file system forgets, at a system call, everything that is not on its disk.
    @Suite(
        .enabled(if: Faultline.isPossible, "\(Faultline.skip)"),
        .enabled(if: DiskImage.isPossible, "\(DiskImage.skip)"))
    struct PowerCutTests {
        /// Somebody else's syncs bring names to the disk before the data behind them.
        @Test(arguments: [false, true], [false, true])
        func nothingIsLost(stateElsewhere: Bool, busy: Bool) async throws {
            let trials = try await Self.cutEverywhere(stateElsewhere: stateElsewhere, busy: busy, most: 24)
            let problems = trials.flatMap(\.problems)
            Torture.say(
                "power cut\(stateElsewhere ? ", state on another disk" : "")\(busy ? ", busy disk" : ""): "
                    + "at \(trials.count { $0.wasCut }) points, \(problems.count) violations")
            #expect(trials.count { $0.wasCut } > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        /// The test must be able to see: with no sync being made, things must get lost.
        @Test(arguments: [false, true]) func withoutSyncsThingsAreLost(stateElsewhere: Bool) async throws {
            let trials = try await Self.cutEverywhere(
                stateElsewhere: stateElsewhere, busy: true, skipping: Faultline.syncs, most: 16)
            let seen = trials.count { !$0.problems.isEmpty }
            Torture.say(
                "power cut\(stateElsewhere ? ", state on another disk" : ""), no syncs (must be seen): "
                    + "violations at \(seen) of \(trials.count) points")
            #expect(seen > 0)
        }

        private static func cutEverywhere(
            stateElsewhere: Bool, busy: Bool, skipping: [String] = [], most: Int
        ) async throws -> [(wasCut: Bool, problems: [String])] {
            let site = try Site.disk(stateElsewhere: stateElsewhere)
            try site.mill.dropMixed()
            let count = try site.mill.countCalls()
            return try await Torture.forEach(Torture.spread(count, most: most)) { point in
                let site = try Site.disk(stateElsewhere: stateElsewhere)
                return try trial(at: point, site, busy: busy, skipping: skipping)
            }
        }

        private static func trial(
            at point: Int, _ site: Site, busy: Bool, skipping: [String]
        ) throws -> (wasCut: Bool, problems: [String]) {
            try site.mill.dropMixed()
            site.settleDown()
            let mill = site.mill
            let log = mill.logs.appending("calls")
            var fault = mill.fault()
            (fault.at, fault.log, fault.skipped) = (point, log, skipping)
            fault.deed = .cut(site.disks.map(\.path), busy: busy)
            let cut = try mill.runOnce(fault)
            for disk in site.disks { try disk.powerOn() }
            var problems = try mill.violations(.interrupted(copying: false)).map { "power on: \($0)" }
            let again = try mill.runOnce(booted: true)
            problems += try mill.violations(.settled).map { "started again: \($0)" }
            if again.status > 1 {
                problems.append("started again: exit status \(again.status): \(again.log.suffix(500))")
            }
            if !problems.isEmpty, let call = try Faultline.calls(in: log).last {
                problems = problems.map { "before call \(point), \(call.name) \(call.path) \(call.target): \($0)" }
            }
            return (cut.status == 137, problems)
        }
    }
}

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
            let trials = try await Self.cutEverywhere(stateElsewhere: stateElsewhere, busy: busy, most: 12)
            let problems = trials.flatMap(\.problems)
            Torture.say(
                "power cut\(stateElsewhere ? ", state on another disk" : "")\(busy ? ", busy disk" : ""): "
                    + "at \(trials.count { $0.wasCut }) points, \(problems.count) violations")
            #expect(trials.count { $0.wasCut } > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        /// Syncs that are left out, on a disk where that must do harm.
        struct Omission: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let calls: [String]
            var path = "*"
            var stateElsewhere = false
            /// The calls before which the power is cut: what is left out may do harm at a few of them only.
            var points = Faultline.changing
            /// Somebody else's syncs would also bring to the disk what is left out here.
            var busy = true
            /// Further archives, where each has but a short time in which harm can be done.
            var archives = 0
        }

        /// The test must be able to see: with any of these left out, things must get lost, or be published twice or in
        /// part.
        static let omissions = [
            Omission(testDescription: "no syncs at all", calls: Faultline.syncs),
            Omission(
                testDescription: "no syncs at all, state elsewhere", calls: Faultline.syncs, stateElsewhere: true),
            Omission(testDescription: "no syncs of files", calls: Faultline.syncs, path: "*/active*"),
            Omission(
                testDescription: "commits that are not synced", calls: ["fdatasync", "fsync"],
                path: "*/journal.sqlite*",
                stateElsewhere: true, points: ["renameat2"], busy: false, archives: 6),
            Omission(
                testDescription: "no syncs of the whole disk, state on another one", calls: ["syncfs"],
                path: "*/active*", stateElsewhere: true, busy: false, archives: 6),
        ]

        @Test(arguments: omissions) func whatIsLeftOutIsSeen(_ omission: Omission) async throws {
            let trials = try await Self.cutEverywhere(
                stateElsewhere: omission.stateElsewhere, busy: omission.busy, leavingOut: omission, most: 40)
            let seen = trials.count { !$0.problems.isEmpty }
            Torture.say(
                "power cut, \(omission.testDescription) (must be seen): "
                    + "violations at \(seen) of \(trials.count) points")
            #expect(seen > 0)
        }

        private static func cutEverywhere(
            stateElsewhere: Bool, busy: Bool, leavingOut omission: Omission? = nil, most: Int
        ) async throws -> [(wasCut: Bool, problems: [String])] {
            let site = try Site.disk(stateElsewhere: stateElsewhere)
            try drop(into: site, omission)
            let count = try site.mill.countCalls(omission?.points ?? Faultline.changing)
            return try await Torture.forEach(Torture.spread(count, most: most)) { point in
                let site = try Site.disk(stateElsewhere: stateElsewhere)
                return try trial(at: point, site, busy: busy, leavingOut: omission)
            }
        }

        private static func drop(into site: Site, _ omission: Omission?) throws {
            try site.mill.dropMixed()
            for number in 0..<(omission?.archives ?? 0) { try site.mill.dropZip("more-\(number).zip") }
        }

        private static func trial(
            at point: Int, _ site: Site, busy: Bool, leavingOut omission: Omission?
        ) throws -> (wasCut: Bool, problems: [String]) {
            try drop(into: site, omission)
            site.settleDown()
            let mill = site.mill
            let log = mill.logs.appending("calls")
            var fault = mill.fault(omission?.points ?? Faultline.changing)
            (fault.at, fault.log) = (point, log)
            if let omission { (fault.skipped, fault.skippedPath) = (omission.calls, omission.path) }
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

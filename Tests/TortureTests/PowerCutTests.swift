import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// Power cuts for real: a file system forgets, at a system call, everything that is not on its disk.
    @Suite(
        .enabled(if: Faultline.isPossible, "\(Faultline.skip)"),
        .enabled(if: DiskImage.isPossible, "\(DiskImage.skip)"))
    struct PowerCutTests {
        /// What there is besides the ground.
        struct Case: Sendable, CustomTestStringConvertible {
            let stateElsewhere: Bool
            /// Somebody else's syncs bring names to the disk before the data behind them.
            let isBusy: Bool

            static let all = [false, true].flatMap { elsewhere in
                [false, true].map { Case(stateElsewhere: elsewhere, isBusy: $0) }
            }

            var testDescription: String {
                (stateElsewhere ? ", state on another disk" : "") + (isBusy ? ", busy disk" : "")
            }
        }

        @Test(arguments: Case.all) func nothingIsLost(_ one: Case) async throws {
            try await Self.cutEverywhere(one, Ground(disk: .ext4, hasLane: true), most: 12)
        }

        @Test(arguments: Case.all, Ground.disks.filter { $0.disk == .xfs || !$0.hasLane })
        func nothingIsLostElsewhere(_ one: Case, _ ground: Ground) async throws {
            guard ground.isPossible else { return }
            try await Self.cutEverywhere(one, ground, most: 4)
        }

        /// The disk may be away for a moment only, and the machine go on. What small drops need is on the disk before
        /// the journal speaks of it. (An archive that was unpacked, and whose row says so, is believed within a boot.)
        @Test(arguments: DiskImage.Kind.allCases)
        func nothingSmallIsLostWithinABoot(_ disk: DiskImage.Kind) async throws {
            let ground = Ground(disk: disk, hasLane: true)
            guard ground.isPossible else { return }
            @Sendable func site() throws -> Site {
                let site = try Site.on(ground, stateElsewhere: true)
                for number in 1...12 { try site.mill.dropPlain("small-\(number).txt") }
                return site
            }
            let first = try site()
            let points = Torture.spread(try first.mill.countCalls(), most: 8)
            let trials = try await Torture.forEach(points) { point in
                let site = try site()
                return try Self.trial(
                    at: point, site, site.mill.fault(), busy: site.disks.prefix(1).map(\.path), booted: false)
            }
            let problems = trials.flatMap(\.problems)
            Torture.say(
                "disk away within a boot, \(disk): at \(trials.count { $0.wasCut }) points, "
                    + "\(problems.count) violations")
            #expect(trials.count { $0.wasCut } > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        private static func cutEverywhere(_ one: Case, _ ground: Ground, most: Int) async throws {
            let site = try Site.on(ground, stateElsewhere: one.stateElsewhere)
            try site.mill.dropMixed()
            let points = Torture.spread(try site.mill.countCalls(), most: most)
            let trials = try await Torture.forEach(points) { point in
                let site = try Site.on(ground, stateElsewhere: one.stateElsewhere)
                try site.mill.dropMixed()
                return try trial(
                    at: point, site, site.mill.fault(), busy: one.isBusy ? site.disks.map(\.path) : [])
            }
            let problems = trials.flatMap(\.problems)
            Torture.say(
                "power cut, \(ground.testDescription)\(one.testDescription): "
                    + "at \(trials.count { $0.wasCut }) points, \(problems.count) violations")
            #expect(trials.count { $0.wasCut } > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        private static let results = Omission.results

        /// The test must be able to see: with any of these left out, things must get lost, or be published twice or in
        /// part.
        static let omissions =
            [
                Omission(testDescription: "no syncs at all", calls: Faultline.syncs),
                Omission(
                    testDescription: "no syncs at all, state elsewhere", calls: Faultline.syncs, stateElsewhere: true),
                Omission(testDescription: "no syncs of files", calls: Faultline.syncs, path: "*/active*"),
                Omission(
                    testDescription: "no syncs of the whole disk, state on another one", calls: ["syncfs"],
                    path: "*/active*", stateElsewhere: true, busy: .nowhere, archives: 6),
            ] + DiskImage.Kind.allCases.flatMap { ofTheLane(on: $0) }

        /// What the quick lane rests on.
        private static func ofTheLane(on disk: DiskImage.Kind) -> [Omission] {
            let ground = Ground(disk: disk, hasLane: true)
            return [
                Omission(
                    testDescription: "renames before the intents are on the disk, \(disk)",
                    calls: ["fdatasync", "fsync"], path: "*/journal.sqlite*", ground: ground, stateElsewhere: true,
                    points: ["renameat2"], pointsPath: results, busy: .onTheDisk),
                // Few files are synced one by one, so that this is the sync of the renames.
                Omission(
                    testDescription: "rows before the renames are on the disk, \(disk)", calls: ["syncfs"],
                    path: "*/active*", after: results, ground: ground, stateElsewhere: true,
                    points: ["renameat2", "pwrite64", "fdatasync", "unlink"], pointsPath: "*/journal.sqlite*",
                    busy: .nowhere),
                Omission(
                    testDescription: "renames before the outputs are on the disk, \(disk)", calls: ["syncfs"],
                    path: "*/active*", until: results, ground: ground, points: ["renameat2"], pointsPath: results,
                    busy: .onTheDisk, files: 12),
            ]
        }

        @Test(arguments: omissions) func whatIsLeftOutIsSeen(_ omission: Omission) async throws {
            guard omission.ground.isPossible else { return }
            try await omission.seek("power cut") { point, site, fault in
                try Self.trial(at: point, site, fault, busy: omission.busyPlaces(of: site)).problems
            }
        }

        private static func trial(
            at point: Int, _ site: Site, _ plan: Faultline, busy: [FilePath], booted: Bool = true
        ) throws -> (wasCut: Bool, problems: [String]) {
            site.settleDown()
            let mill = site.mill
            let log = mill.logs.appending("calls")
            var fault = plan
            (fault.at, fault.log) = (point, log)
            fault.deed = .cut(site.disks.map(\.path), busy: busy)
            let cut = try mill.runOnce(fault)
            for disk in site.disks { try disk.powerOn() }
            var problems = try mill.violations(.interrupted(copying: false)).map { "power on: \($0)" }
            let again = try mill.runOnce(booted: booted)
            problems += try mill.violations(.settled).map { "started again: \($0)" }
            problems += try mill.doubleRows()
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

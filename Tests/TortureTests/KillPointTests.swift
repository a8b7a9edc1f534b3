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

        @Test(arguments: Ground.others) func nothingIsLostElsewhere(_ ground: Ground) async throws {
            guard ground.isPossible else { return }
            try await Self.killEverywhere("\(ground.testDescription)", most: 10) { try Site.on(ground) }
        }

        /// The intents of a batch are one row of more pages than one.
        @Test func nothingOfALargeBatchIsLost() async throws {
            try await Self.killEverywhere(
                "a batch of many", most: 10,
                drop: { site in
                    for number in 1...30 { try site.mill.dropPlain("one-of-many-\(number).txt") }
                })
        }

        @Test func nothingOfTwinsIsLost() async throws {
            try await Self.killEverywhere(
                "two lanes to one folder", most: 16, { try Site.twins() },
                drop: { site in
                    for name in ["a.txt", "b.txt", "c.txt"] { try site.mill.dropTwins(name) }
                })
        }

        /// The test must be able to see. What is not written to the journal is as if the renames came before it: the
        /// next start publishes once more what was half published.
        @Test func renamesBeforeTheIntentsAreSeen() async throws {
            let omission = Omission(
                testDescription: "renames before the intents are on record", calls: ["pwrite64", "write"],
                path: Omission.log, after: "*/active/*/*", ground: Ground(disk: nil, hasLane: true),
                points: ["renameat2", "mkdir", "mkdirat"], pointsPath: Omission.results)
            try await omission.seek("kill -9") { point, site, fault in
                try Self.trial(at: point, site, fault).problems
            }
        }

        /// Kills a run at each of at most so many points.
        private static func killEverywhere(
            _ title: String, most: Int, _ build: @escaping @Sendable () throws -> Site = { try Site.plain() },
            drop: @escaping @Sendable (Site) throws -> Void = { try $0.mill.dropMixed() }
        ) async throws {
            let site = try build()
            try drop(site)
            let count = try site.mill.countCalls()
            // Threads take turns differently from run to run, and so some runs make a few calls more.
            let trials = try await Torture.forEach(Torture.spread(count + 3, most: most)) { point in
                let site = try build()
                try drop(site)
                return try trial(at: point, site, site.mill.fault())
            }
            let problems = trials.flatMap(\.problems)
            let killed = trials.count { $0.wasKilled }
            Torture.say("kill -9, \(title): at \(killed) of \(count) system calls, \(problems.count) violations")
            #expect(killed > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        /// Kills a run at a point, starts it again and looks at both moments.
        private static func trial(
            at point: Int, _ site: Site, _ plan: Faultline
        ) throws -> (wasKilled: Bool, problems: [String]) {
            let mill = site.mill
            let log = mill.logs.appending("calls")
            var fault = plan
            (fault.at, fault.log) = (point, log)
            let killed = try mill.runOnce(fault)
            var problems = try mill.violations(.interrupted(copying: site.isCopying)).map { "killed: \($0)" }
            let again = try mill.runOnce()
            problems += try mill.violations(.settled).map { "started again: \($0)" }
            problems += try mill.doubleRows()
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

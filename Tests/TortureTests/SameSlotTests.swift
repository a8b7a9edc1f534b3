import Glibc
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// The same name comes again and again, each time when what came of the last one was fetched, and each job gets the
    /// folder of the one before: what is in it must never be taken for the job of before.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct SameSlotTests {
        private static let name = "same.txt"
        private static let rounds = 3
        private static let lane = Ground(disk: nil, hasLane: true)

        @Test(arguments: [lane, Ground(disk: nil, hasLane: false)]) func nothingIsLost(_ ground: Ground) async throws {
            let first = try Self.site(ground)
            let count = try await Self.count(first, first.mill.fault())
            var (killed, problems) = (0, [String]())
            let points = Torture.spread(count, most: 12)
            for point in points {
                let site = try Self.site(ground)
                let trial = try await Self.trial(at: point, site, site.mill.fault())
                killed += trial.wasKilled ? 1 : 0
                problems += trial.problems
            }
            Torture.say(
                "kill -9, the same name in the same slot, \(ground.testDescription): at \(killed) of \(count) "
                    + "system calls, \(problems.count) violations")
            #expect(killed > points.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        /// The test must be able to see. Where the end of a job does not come to the journal, its folder is used again
        /// too early, and the next start takes what is in it for that job's.
        @Test func aSlotThatIsUsedTooEarlyIsSeen() async throws {
            let omission = Omission(
                testDescription: "a slot used again before the end is on record", calls: ["pwrite64", "write"],
                path: Omission.log, after: Omission.results, ground: Self.lane,
                points: ["renameat2", "create", "write"], pointsPath: "*/active/*")
            let first = try Self.site(Self.lane)
            var counting = omission.fault(of: first.mill)
            counting.skipped = []
            let count = try await Self.count(first, counting)
            var (tried, seen) = (0, 0)
            for point in Torture.spread(count, most: 60).reversed() where seen == 0 || Torture.isLong {
                let site = try Self.site(Self.lane)
                tried += 1
                if try await !Self.trial(at: point, site, omission.fault(of: site.mill)).problems.isEmpty { seen += 1 }
            }
            Torture.say(
                "kill -9, \(omission.testDescription) (must be seen): violations at \(seen) of \(tried) points")
            #expect(seen > 0)
        }

        /// One job at a time, so that there is one folder.
        private static func site(_ ground: Ground) throws -> Site { try Site.on(ground, ["active: { jobs: 1 }"]) }

        private static func count(_ site: Site, _ plan: Faultline) async throws -> Int {
            var fault = plan
            let log = site.mill.logs.appending("calls")
            fault.log = log
            let status = try await feed(site, fault)
            #expect(status == 0)
            #expect(try site.mill.violations(.settled) == [])
            return try Faultline.calls(in: log).count
        }

        private static func trial(
            at point: Int, _ site: Site, _ plan: Faultline
        ) async throws -> (wasKilled: Bool, problems: [String]) {
            let log = site.mill.logs.appending("calls")
            var fault = plan
            (fault.at, fault.log) = (point, log)
            let status = try await feed(site, fault)
            var problems = try site.mill.violations(.interrupted(copying: false)).map { "killed: \($0)" }
            let again = try site.mill.runOnce()
            problems += try site.mill.violations(.settled).map { "started again: \($0)" }
            problems += try site.mill.doubleRows()
            if again.status > 1 {
                problems.append("started again: exit status \(again.status): \(again.log.suffix(500))")
            }
            if !problems.isEmpty, let call = try Faultline.calls(in: log).last {
                problems = problems.map { "before call \(point), \(call.name) \(call.path) \(call.target): \($0)" }
            }
            return (status == 137, problems)
        }

        /// Runs a daemon that gets the drops; how it ended.
        private static func feed(_ site: Site, _ fault: Faultline) async throws -> Int32 {
            var daemon = try site.mill.start(log: site.mill.logs.appending("log"), wrapper: fault.wrapper)
            for round in 1...rounds {
                try site.mill.dropPlain(name, again: round)
                _ = try await eventually { try daemon.hasEnded() || site.mill.fetch(name, again: round) }
                if try daemon.hasEnded() { break }
            }
            try daemon.send(SIGTERM)
            return try daemon.wait()
        }
    }
}

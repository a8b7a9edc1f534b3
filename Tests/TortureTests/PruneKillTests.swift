import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// kill -9, failures and power cuts at every system call of a prune: journal and disk agree after the next.
    @Suite(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct PruneKillTests {
        @Test func theNextRunEndsWhatAKillCut() async throws {
            let count = try Self.calls { $0.mill.fault() }.count
            let trials = try await Torture.forEach(Torture.spread(count + 2, most: 5)) { point in
                let prune = try PruneMill()
                var fault = prune.mill.fault()
                fault.at = point
                return try Self.trial(prune, fault)
            }
            let (killed, problems) = (trials.count { $0.status == 137 }, trials.flatMap(\.problems))
            Torture.say("kill -9 of a prune: at \(killed) of \(count) system calls, \(problems.count) violations")
            #expect(killed > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        /// What is done to a call, and which calls it is plausible for.
        private struct Trouble: Sendable {
            let deed: Faultline.Deed
            var andLater = false
            let calls: [String]
        }

        private static let names = ["mkdirat", "renameat", "renameat2", "unlinkat"]
        private static let opening = ["openat", "openat2"]

        private static let troubles = [
            Trouble(deed: .fail("EIO"), calls: names + opening + Faultline.syncs),
            Trouble(deed: .fail("EIO"), andLater: true, calls: names + Faultline.syncs),
            Trouble(deed: .fail("ENOSPC"), calls: names.dropLast() + Faultline.syncs),
            Trouble(deed: .fail("EROFS"), andLater: true, calls: names),
            Trouble(deed: .fail("EINTR"), calls: opening + Faultline.syncs),
            Trouble(deed: .deny("EIO"), calls: names),
        ]

        @Test func theNextRunEndsWhatFailed() async throws {
            let calls = try Self.calls { $0.fault(Self.names + Self.opening + Faultline.syncs) }
            var points: [(Trouble, Int)] = []
            for trouble in Self.troubles {
                let those = calls.filter { trouble.calls.contains($0.name) }
                // Once each, or once for each kind of call, of an original and of what lies beside one.
                var seen: Set<String> = []
                let some = those.indices.filter { index in
                    let isBeside = [".sha256", ".0"].contains { those[index].path.hasSuffix($0) }
                    return Torture.isLong || seen.insert("\(those[index].name) \(isBeside)").inserted
                }
                points += some.map { (trouble, $0 + 1) }
            }
            let trials = try await Torture.forEach(points) { trouble, point in
                let prune = try PruneMill()
                var fault = prune.fault(trouble.calls)
                (fault.at, fault.andLater, fault.deed) = (point, trouble.andLater, trouble.deed)
                return try Self.trial(prune, fault)
            }
            let problems = trials.flatMap(\.problems)
            Torture.say(
                "failures in a prune: \(trials.count) of \(calls.count) system calls, \(problems.count) violations")
            #expect(trials.allSatisfy { $0.status == 0 }, "\(trials.map(\.status))")
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        @Test(
            .enabled(if: DiskImage.isPossible, "\(DiskImage.skip)"),
            arguments: [false, true]) func theNextRunEndsWhatAPowerCutCut(stateElsewhere: Bool) async throws
        {
            @Sendable func prune() throws -> PruneMill {
                try PruneMill(on: try Site.on(Ground(disk: .ext4, hasLane: true), stateElsewhere: stateElsewhere))
            }
            let count = try Self.calls(of: try prune()) { $0.mill.fault() }.count
            let trials = try await Torture.forEach(Torture.spread(count, most: 2)) { point in
                let prune = try prune()
                var fault = prune.mill.fault()
                (fault.at, fault.deed) = (point, .cut(prune.site.disks.map(\.path), busy: []))
                return try Self.trial(prune, fault)
            }
            let (cut, problems) = (trials.count { $0.status == 137 }, trials.flatMap(\.problems))
            Torture.say(
                "power cut in a prune\(stateElsewhere ? ", state elsewhere" : ""): at \(cut) of \(count) system calls, "
                    + "\(problems.count) violations")
            #expect(cut > trials.count / 2)
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        /// How many runs get to the end of what one of them would on a machine of its own.
        private static let runs = 4

        private struct Trial {
            var status: Int32
            var problems: [String]
        }

        /// The calls of a prune that count, undisturbed.
        private static func calls(
            of mill: PruneMill? = nil, _ fault: (PruneMill) -> Faultline
        ) throws -> [Faultline.Call] {
            let prune = try mill ?? PruneMill()
            var fault = fault(prune)
            let log = prune.mill.logs.appending("calls")
            fault.log = log
            _ = try prune.mill.runOnce(fault)
            let problems = try prune.violations(at: .over)
            guard problems.isEmpty else { throw PruneMill.Problem("undisturbed: \(problems)") }
            return try Faultline.calls(in: log)
        }

        /// Prunes with a fault, looks, prunes without, and looks again.
        private static func trial(_ prune: PruneMill, _ fault: Faultline) throws -> Trial {
            var fault = fault
            let log = prune.mill.logs.appending("calls")
            fault.log = log
            prune.site.settleDown()
            let run = try prune.mill.runOnce(fault)
            let isCut = !prune.site.disks.isEmpty
            for disk in prune.site.disks { try disk.powerOn() }
            var problems = try prune.violations(at: .interrupted).map { "in between: \($0)" }
            var left: [String] = []
            // A run with `--once` removes what it can in some seconds, and others have the machine, too.
            for _ in 0..<Self.runs {
                let again = try prune.mill.runOnce(booted: isCut)
                if again.status != 0 { problems.append("the next: \(again.log.suffix(500))") }
                left = try prune.violations(at: .over)
                if left.isEmpty { break }
            }
            problems += left.map { "after the next: \($0)" }
            let calls = try Faultline.calls(in: log)
            let point = fault.at ?? 0
            if let call = calls.indices.contains(point - 1) ? calls[point - 1] : calls.last {
                problems = problems.map {
                    "\(fault.deed) at call \(point), \(call.name) \(call.path) \(call.target): \($0)"
                }
            }
            return Trial(status: run.status, problems: problems)
        }
    }
}

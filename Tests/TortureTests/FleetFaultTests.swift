import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// A node is killed at each of its system calls, stands still there until it has been taken over, or hears of calls
    /// that it made that they failed: while it settles what it has claimed, and while it takes over what another one
    /// has left half done. Others end what it began.
    @Suite(
        .enabled(if: PostgresServer.isPossible, "needs postgresql"),
        .enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct FleetFaultTests
    {
        /// What is done at a call.
        enum Blow: Sendable, CaseIterable, CustomTestStringConvertible {
            case kill, noEntry, exists, broken, stop

            /// In what ways.
            var deeds: [Faultline.Deed] {
                switch self {
                case .kill: [.kill]
                case .noEntry: [.deny("ENOENT")]
                case .exists: [.deny("EEXIST")]
                case .broken: [.deny("EIO")]
                case .stop: [.stop(isMade: false), .stop(isMade: true)]
                }
            }

            /// Where that can happen.
            var calls: [String] { [.kill, .stop].contains(self) ? Faultline.changing : LostAnswerTests.calls }

            var testDescription: String { deeds.map { "\($0)" }.joined(separator: " or ") }
        }

        @Test(arguments: Blow.allCases) func whoSettles(_ blow: Blow) async throws {
            try await Self.run(blow, "settles", after: nil)
        }

        @Test(arguments: Blow.allCases) func whoTakesOver(_ blow: Blow) async throws {
            try await Self.run(blow, "takes over", after: try await Self.cut())
        }

        /// Where one is killed that leaves all kinds of things: in the middle of what it moves.
        private static func cut() async throws -> Int {
            let moves = try await count(Blow.kill, after: nil).enumerated().filter {
                $0.element.name.hasPrefix("rename")
            }
            return try #require(moves.isEmpty ? nil : moves[moves.count * 2 / 3].offset + 1)
        }

        private static func run(_ blow: Blow, _ what: String, after cut: Int?) async throws {
            let count = try await count(blow, after: cut).count
            let strikes = Torture.spread(count, most: 3).flatMap { point in
                blow.deeds.map { Strike(calls: blow.calls, point: point, deed: $0) }
            }
            // They wait for leases most of the time.
            let width = 4
            let trials = try await withThrowingTaskGroup(of: [Trial].self) { group in
                for lane in 0..<width {
                    group.addTask {
                        var trials: [Trial] = []
                        for place in stride(from: lane, to: strikes.count, by: width) {
                            trials.append(try await trial(strikes[place], after: cut))
                        }
                        return trials
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            let problems = trials.flatMap(\.problems)
            Torture.say(
                "\(blow.testDescription) at a node that \(what): \(trials.count { $0.wasHit }) times at "
                    + "\(count) system calls, \(problems.count) violations")
            #expect(trials.contains { $0.wasHit })
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        /// What is done to one node. `point`: at which of these calls; nil: none.
        private struct Strike {
            var calls: [String]
            var point: Int?
            var deed = Faultline.Deed.kill

            /// For how long, where it is to stand still: whether until others have done all, rather than just taken it
            /// over.
            var isLong: Bool? {
                guard let point, case .stop(let isMade) = deed else { return nil }
                return point.isMultiple(of: 2) == isMade
            }
        }

        private struct Trial {
            var wasHit = false
            var problems: [String] = []
            var calls: [Faultline.Call] = []
        }

        /// The calls of one that is left in peace.
        private static func count(_ blow: Blow, after cut: Int?) async throws -> [Faultline.Call] {
            let trial = try await trial(Strike(calls: blow.calls), after: cut)
            try #require(trial.problems.isEmpty, "\(trial.problems)")
            return trial.calls
        }

        /// `cut`: the call at which another one was killed before.
        private static func trial(_ strike: Strike, after cut: Int?) async throws -> Trial {
            let scratch = try ScratchFolder()
            var mill = Mill(at: try scratch.makeFolder("share"))
            mill.logs = scratch.path
            try mill.build(quiet: "50ms", ["retry: { attempts: 100 }"], keepsLists: false)
            try mill.dropPlain("plain.txt")
            try mill.dropZip("archive.zip", members: 3)
            try mill.dropBadZip("bad.zip")
            var struck = mill.fault(strike.calls)
            (struck.at, struck.deed) = (strike.point, strike.deed)
            let log = scratch.path.appending("calls")
            struck.log = log
            var killed = mill.fault()
            killed.at = cut
            var fleet = try Fleet(mill, of: 0, with: [mill.pipelines], try PostgresServer.shared.get())
            func wasHit() throws -> Bool {
                guard let point = strike.point, Folder.kind(of: log) != nil else { return false }
                return try Faultline.calls(in: log).count >= point
            }
            // Each goes on with what the one before it has left; the last one is left in peace.
            let faults = (cut == nil ? [] : [killed]) + [struck]
            for fault in faults.map(Optional.some) + [nil] {
                try fleet.add(fault)
                let last = fleet.nodes.count - 1
                let mayStop = last == faults.count - 1 && strike.isLong != nil
                func isOver() throws -> Bool { try fleet.hasEnded(last) || mayStop && wasHit() }
                _ = try await eventually(within: .seconds(90)) { try isOver() || fleet.isDone }
                // It may also stand still as it ends.
                if mayStop, fleet.isDone {
                    try fleet.send(SIGTERM, to: last)
                    _ = try await eventually(within: .seconds(90), isOver)
                }
                guard try isOver() else { break }
            }
            var trial = Trial()
            if let isLong = strike.isLong, try wasHit() {
                trial.problems += try await wake(faults.count - 1, of: &fleet, afterAll: isLong)
            }
            if !fleet.isDone {
                trial.problems.append("left: \(try fleet.work()), \(try fleet.count("unfinished")) unfinished")
            }
            try fleet.end()
            trial.calls = try Faultline.calls(in: log)
            trial.wasHit = try wasHit()
            trial.problems += try fleet.mill.violations(.settled).map(\.description)
            if let point = strike.point, let call = trial.calls.dropFirst(point - 1).first {
                trial.problems = trial.problems.map {
                    "\(strike.deed) at call \(point), \(call.name) \(call.path): \($0)"
                }
            }
            return trial
        }

        /// Has one go on that stands still, once others have its jobs, or `afterAll` is done: it has to begin anew.
        private static func wake(_ sleeper: Int, of fleet: inout Fleet, afterAll: Bool) async throws -> [String] {
            var problems: [String] = []
            let isTaken = await eventually(within: .seconds(90)) {
                fleet.isTakenOver(sleeper) && (!afterAll || fleet.isDone)
            }
            if !isTaken { problems.append("is not taken over") }
            try fleet.send(SIGCONT, to: sleeper)
            let isAwake = try await eventually(within: .seconds(90)) {
                try fleet.hasEnded(sleeper) || fleet.isAlive(sleeper)
            }
            if !isAwake { problems.append("does not begin anew") }
            _ = await eventually(within: .seconds(90)) { fleet.isDone }
            return problems
        }
    }
}

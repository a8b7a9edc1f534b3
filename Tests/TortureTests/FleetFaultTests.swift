import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// A node is killed at each of its system calls, or hears of calls that it made that they failed: while it settles
    /// what it has claimed, and while it takes over what another one has left half done. Others end what it began.
    @Suite(
        .enabled(if: PostgresServer.isPossible, "needs postgresql"),
        .enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct FleetFaultTests
    {
        /// What is done at a call.
        enum Blow: Sendable, CaseIterable, CustomTestStringConvertible {
            case kill, noEntry, exists, broken

            var deed: Faultline.Deed {
                switch self {
                case .kill: .kill
                case .noEntry: .deny("ENOENT")
                case .exists: .deny("EEXIST")
                case .broken: .deny("EIO")
                }
            }

            /// Where that can happen.
            var calls: [String] { self == .kill ? Faultline.changing : LostAnswerTests.calls }

            var testDescription: String { "\(deed)" }
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
            var trials: [Trial] = []
            for point in Torture.spread(count, most: 3) { trials.append(try await trial(blow, at: point, after: cut)) }
            let problems = trials.flatMap(\.problems)
            Torture.say(
                "\(blow.deed) at a node that \(what): \(trials.count { $0.wasHit }) of \(count) system calls, "
                    + "\(problems.count) violations")
            #expect(trials.contains { $0.wasHit })
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }

        private struct Trial {
            var wasHit = false
            var problems: [String] = []
            var calls: [Faultline.Call] = []
        }

        /// The calls of one that is left in peace.
        private static func count(_ blow: Blow, after cut: Int?) async throws -> [Faultline.Call] {
            let trial = try await trial(blow, at: nil, after: cut)
            try #require(trial.problems.isEmpty, "\(trial.problems)")
            return trial.calls
        }

        /// `cut`: the call at which another one was killed before.
        private static func trial(_ blow: Blow, at point: Int?, after cut: Int?) async throws -> Trial {
            let scratch = try ScratchFolder()
            var mill = Mill(at: try scratch.makeFolder("share"))
            mill.logs = scratch.path
            try mill.build(quiet: "50ms", ["retry: { attempts: 100 }"], keepsLists: false)
            try mill.dropPlain("plain.txt")
            try mill.dropZip("archive.zip", members: 3)
            try mill.dropBadZip("bad.zip")
            var struck = mill.fault(blow.calls)
            (struck.at, struck.deed) = (point, blow.deed)
            struck.log = scratch.path.appending("calls")
            var killed = mill.fault()
            killed.at = cut
            var fleet = try Fleet(mill, of: 0, with: [mill.pipelines], try PostgresServer.shared.get())
            // Each goes on with what the one before it has left; the last one is left in peace.
            let faults = (cut == nil ? [] : [killed]) + [struck]
            for fault in faults.map(Optional.some) + [nil] {
                try fleet.add(fault)
                let last = fleet.nodes.count - 1
                let isOver = try await eventually(within: .seconds(90)) { try fleet.hasEnded(last) || fleet.isDone }
                guard isOver, try fleet.hasEnded(last) else { break }
            }
            var trial = Trial()
            if !fleet.isDone {
                trial.problems.append("left: \(try fleet.work()), \(try fleet.count("unfinished")) unfinished")
            }
            try fleet.end()
            trial.calls = try Faultline.calls(in: scratch.path.appending("calls"))
            trial.wasHit = point.map { trial.calls.count >= $0 } ?? false
            trial.problems += try fleet.mill.violations(.settled).map(\.description)
            if let point, let call = trial.calls.dropFirst(point - 1).first {
                trial.problems = trial.problems.map { "at call \(point), \(call.name) \(call.path): \($0)" }
            }
            return trial
        }
    }
}

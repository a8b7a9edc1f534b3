import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// Nodes that share an inbox and a journal: killed, put to sleep and cut off at random, while people go on dropping
    /// things.
    @Suite(.enabled(if: PostgresServer.isPossible, "needs postgresql")) struct FleetTests {
        private static let seed =
            getenv("DROPMILL_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1...999_999)

        /// `isQuick`: whether small drops take the quick lane.
        @Test(arguments: [false, true]) func nothingIsLostOrPublishedTwice(isQuick: Bool) async throws {
            let (kills, sleeps, partitions, restarts) = Torture.isLong ? (200, 100, 20, 5) : (6, 5, 2, 1)
            var generator = SeededGenerator(seed: Self.seed)
            Torture.say("a \(isQuick ? "quick" : "slow") fleet with DROPMILL_SEED=\(Self.seed)")
            let scratch = try ScratchFolder()
            // Not where the nodes see it.
            let root = try scratch.makeFolder("share")
            var mill = Mill(at: root)
            mill.logs = scratch.path
            let (views, mounts) = try Self.views(of: root, scratch)
            var pipelines: [FilePath] = []
            for view in [root] + views {
                var seen = Mill(at: view)
                seen.pipelines = try scratch.makeFolder("pipelines-\(pipelines.count)")
                let first = isQuick ? nil : Self.slow
                try seen.build(quiet: "50ms", ["retry: { attempts: 100 }"], first: first, keepsLists: false)
                pipelines.append(seen.pipelines)
            }
            let server = try PostgresServer()
            var fleet = try Fleet(mill, of: 4, with: views.isEmpty ? pipelines : Array(pipelines.dropFirst()), server)
            var deeds: [Deed] =
                Array(repeating: .kill, count: kills) + Array(repeating: .sleep, count: sleeps)
                + Array(repeating: .restart, count: restarts)
                + Fleet.Partition.allCases.flatMap { Array(repeating: .part($0), count: partitions / 2) }
            deeds.shuffle(using: &generator)
            var number = 0
            for deed in deeds {
                // Quick ones are to be at work, too, whatever happens then.
                for _ in 0..<Int.random(in: isQuick ? 10...40 : 4...30, using: &generator) {
                    number += 1
                    try Self.drop(number, into: &fleet.mill, &generator)
                }
                let pause = Duration.milliseconds(Int.random(in: isQuick ? 10...200 : 50...900, using: &generator))
                var ended: [String] = []
                _ = try await eventually(within: pause) {
                    ended = try fleet.ended()
                    return !ended.isEmpty
                }
                try #require(ended.isEmpty, "ended by themselves: \(fleet.nodes[0].process.transcript)")
                try fleet.wake()
                let victim = fleet.nodes.indices.randomElement(using: &generator) ?? 0
                let time = Fleet.lease * Double.random(in: 0.5...3, using: &generator)
                switch deed {
                case .kill: try fleet.kill(victim)
                case .sleep: try fleet.stop(victim, for: time)
                case .part(let way): fleet.part(victim, way, for: time)
                case .restart:
                    try server.stop()
                    try server.begin()
                }
            }
            try fleet.wake(all: true)
            let isDone = try await eventually(within: .seconds(Torture.isLong ? 1200 : 180)) {
                try fleet.ended().isEmpty && fleet.isDone
            }
            let unfinished = try fleet.count("unfinished")
            try fleet.end()
            let work = try fleet.work()
            #expect(isDone, "left: \(work.prefix(5)), \(unfinished) unfinished")
            let violations = try fleet.mill.violations(.settled)
            func count(_ kinds: Ledger.Violation.Kind...) -> Int { violations.count { kinds.contains($0.kind) } }
            let takenOver = try fleet.count("history WHERE record LIKE '%\"taken over\"%'")
            Torture.say(
                "a fleet of \(fleet.nodes.count): \(fleet.kills) kills, \(fleet.sleeps) sleeps, "
                    + "\(fleet.partitions) partitions, \(restarts) stops of the database, "
                    + "\(takenOver) jobs taken over, \(try Self.fenced(fleet)) fenced, \(number) drops, "
                    + "\(count(.lost, .unsettled)) lost, \(count(.publishedTwice, .doubled)) twice, "
                    + "\(count(.torn)) half-published, \(count(.misjudged, .leftover, .stranger)) otherwise wrong")
            #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
            #expect(try fleet.work().isEmpty)
            #expect(takenOver > 0 || !Torture.isLong, "nothing was tried")
            withExtendedLifetime(mounts) {}
        }

        /// A file that kills whatever looks at it cannot kill a fleet for ever.
        @Test(.enabled(if: Faultline.isPossible, "\(Faultline.skip)")) func poisonEndsInFailed() async throws {
            let scratch = try ScratchFolder()
            var mill = Mill(at: try scratch.makeFolder("share"))
            mill.logs = scratch.path
            try mill.build(["retry: { attempts: 3 }"], keepsLists: false)
            try mill.dropPlain("poison.txt", fate: .failed)
            for number in 1...3 { try mill.dropPlain("other-\(number).txt") }
            var fault = mill.fault(["openat"])
            fault.path = "*/inbox/poison.txt"
            fault.at = 1
            var fleet = try Fleet(mill, of: 2, with: [mill.pipelines], try PostgresServer(), fault)
            var kills = 0
            let isDone = try await eventually(within: .seconds(180)) {
                kills += try fleet.restartKilled()
                return fleet.isDone
            }
            Torture.say("a poison file in a fleet of 2 with attempts: 3: \(kills) kills")
            #expect(isDone)
            // While one writes down what another died of, a third may count that twice; each may die before it hears.
            #expect((2...6).contains(kills), "\(kills) kills")
            try fleet.end()
            #expect(try fleet.mill.violations(.settled) == [])
        }

        private enum Deed {
            case kill, sleep, restart
            case part(Fleet.Partition)
        }

        /// So that there are jobs at work whenever a node dies.
        private static let slow = "run: { command: [sleep, \"\(isLong ? 0.02 : 0.2)\"], workers: 2 }"

        /// Two folders that show the share, each with a memory of its own, where that can be.
        private static func views(
            of root: FilePath, _ scratch: ScratchFolder
        ) throws -> ([FilePath], [MirrorMount]) {
            guard MirrorMount.isPossible else { return ([], []) }
            let views = try ["a", "b"].map { try scratch.makeFolder("view-\($0)") }
            return (views, try views.map { try MirrorMount(of: root, at: $0, memory: 5) })
        }

        private static func drop(_ number: Int, into mill: inout Mill, _ generator: inout SeededGenerator) throws {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0..<4: try mill.dropPlain("file-\(number).txt", size: Int.random(in: 1...9000, using: &generator))
            case 4: try mill.dropPlain("same.txt", again: number)
            case 5: try mill.dropZip("archive-\(number).zip", members: Int.random(in: 2...9, using: &generator))
            case 6: try mill.dropZip("same.zip", again: number)
            default: try mill.dropBadZip("bad-\(number % 5).zip", again: number)
            }
        }

        /// How many jobs nodes were told to be others' by now.
        private static func fenced(_ fleet: Fleet) throws -> Int {
            try Set(fleet.nodes.map(\.name)).reduce(0) { sum, name in
                let lines = String(decoding: try ScratchFolder.read(fleet.log(of: name)), as: UTF8.self)
                    .split(separator: "\n").filter { $0.contains("taken over by another node") }
                return sum
                    + lines.reduce(0) { sum, line in
                        sum + (line.firstMatch(of: /: (\d+) jobs, such as/).flatMap { Int($0.output.1) } ?? 1)
                    }
            }
        }
    }
}

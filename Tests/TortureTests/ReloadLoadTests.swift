import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// Pipelines that change again and again while people drop things: every drop ends once, by what was loaded.
    @Suite struct ReloadLoadTests {
        /// `DROPMILL_SEED` repeats a run.
        private static let seed =
            getenv("DROPMILL_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1...999_999)

        @Test func everyDropEndsOnce() async throws {
            let (reloads, each) = Torture.isLong ? (200, 25) : (12, 12)
            Torture.say("reloads under load with DROPMILL_SEED=\(Self.seed)")
            let scratch = try ScratchFolder()
            var administrator = try Administrator(
                ReloadMill(at: scratch.makeFolder("mill"), inboxes: 4), SeededGenerator(seed: Self.seed))
            var daemon = try administrator.mill.start(scratch.path("log"))
            try #require(await eventually { administrator.mill.isListening }, "\(daemon.transcript)")
            let begun = ContinuousClock.now
            for round in 1...reloads {
                let isWrong = try administrator.change()
                let drops = (1...each).map { number in
                    let inbox = (round + number) % 4 + 1
                    return ReloadMill.Drop(
                        "drop-\(round)-\(number)", to: inbox, size: number % 7 == 0 ? 100_000 : 300,
                        isArchive: inbox == Administrator.unpacking)
                }
                for drop in drops { administrator.mill.note(drop) }
                let dropping = Task { [mill = administrator.mill] in
                    for drop in drops { try mill.put(drop) }
                }
                let output = try administrator.mill.reload()
                try await dropping.value
                #expect(output.status == (isWrong ? 78 : 0), "round \(round): \(output.text)")
                if output.status == 0 { administrator.noteLoaded() }
            }
            let took = ContinuousClock.now - begun
            try daemon.send(SIGTERM)
            #expect(try daemon.wait() == 0, "\(daemon.transcript)")
            var problems = try administrator.mill.violations(of: administrator.loaded, isSettled: false)
                .map { "stopped: \($0)" }
            // Jobs of a name that a pipeline has no more wait for it.
            for isRenamed in [false, true] {
                try administrator.bringBack(isRenamed: isRenamed)
                problems += try administrator.mill.settle(scratch.path("log-\(isRenamed)"))
            }
            problems += try administrator.mill.violations(of: administrator.loaded, isSettled: true)
            Torture.say(
                "\(reloads) reloads within \(took) of \(administrator.loaded.count) configurations, "
                    + "\(administrator.mill.drops.count) drops, \(problems.count) violations")
            #expect(problems.isEmpty, "seed \(Self.seed): \(problems.prefix(40).joined(separator: "\n"))")
        }
    }

    /// Somebody who changes pipeline files at random.
    private struct Administrator {
        var mill: ReloadMill
        /// All that was ever in force.
        private(set) var loaded: [Int: ReloadMill.Config] = [:]
        /// What the files say, by inbox, and whether they are there.
        private var configs: [Int: ReloadMill.Config]
        private var absent: Set<Int> = []
        private var lastTag: Int
        private var random: SeededGenerator

        /// The inbox that gets archives.
        static let unpacking = 4

        init(_ mill: ReloadMill, _ random: SeededGenerator) throws {
            (self.mill, self.random, lastTag) = (mill, random, 4)
            configs = Dictionary(
                uniqueKeysWithValues: (1...4).map {
                    ($0, ReloadMill.Config(inbox: $0, name: "p\($0)", tag: $0, unpacks: $0 == Self.unpacking))
                })
            for config in configs.values { try mill.write(config) }
            noteLoaded()
        }

        mutating func noteLoaded() {
            for (inbox, config) in configs where !absent.contains(inbox) { loaded[config.tag] = config }
        }

        /// Changes something, or nothing; whether that is wrong, so that nothing of it may be taken.
        mutating func change() throws -> Bool {
            // What was broken in the round before is mended.
            for (inbox, config) in configs where !absent.contains(inbox) { try mill.write(config) }
            try Folder.remove(mill.pipelines.appending("twice.yaml"))
            for _ in 0..<Int.random(in: 0...2, using: &random) { try changeOne() }
            guard Int.random(in: 0..<5, using: &random) == 0 else { return false }
            try changeOne()
            try breakOne()
            return true
        }

        private mutating func changeOne() throws {
            guard let inbox = configs.keys.sorted().randomElement(using: &random), var config = configs[inbox] else {
                return
            }
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3:
                config.hasStrongDigests.toggle()
                let run = ["run: { command: ['true'] }"]
                config.first = Int.random(in: 0..<4, using: &random) == 0 ? run : []
                renew(&config)
            case 3..<5:
                config.rules = [
                    "order: \(["arrival", "name", "largest"].randomElement(using: &random) ?? "name")",
                    "active: { jobs: \(Int.random(in: 1...64, using: &random)) }",
                ]
            case 5:
                config.name = Self.name(inbox, isRenamed: !config.name.hasSuffix("b"))
                renew(&config)
            default:
                // One is always there: no file at all would be a mistake.
                guard inbox != 1 else { return }
                if absent.remove(inbox) == nil { absent.insert(inbox) }
            }
            configs[inbox] = config
            if absent.contains(inbox) { try Folder.remove(mill.file(config)) } else { try mill.write(config) }
        }

        private static func name(_ inbox: Int, isRenamed: Bool) -> String { "p\(inbox)\(isRenamed ? "b" : "")" }

        private mutating func renew(_ config: inout ReloadMill.Config) {
            lastTag += 1
            config.tag = lastTag
        }

        private mutating func breakOne() throws {
            guard let config = configs[1] else { return }
            let (file, text) = (mill.file(config), config.text(below: mill.root))
            switch Int.random(in: 0..<5, using: &random) {
            case 0: try mill.write(String(text.prefix(text.count / 2)), to: file)
            case 1: try mill.write("", to: file)
            case 2: try mill.write(text + "prority: 1\n", to: file)
            case 3:
                try Folder.remove(file)
                try Folder.make(file)
            default: try mill.write(text, to: mill.pipelines.appending("twice.yaml"))
            }
        }

        /// All pipelines, with these names.
        mutating func bringBack(isRenamed: Bool) throws {
            try Folder.remove(mill.pipelines.appending("twice.yaml"))
            absent = []
            for (inbox, config) in configs {
                var config = config
                config.name = Self.name(inbox, isRenamed: isRenamed)
                renew(&config)
                configs[inbox] = config
                try mill.write(config)
            }
            noteLoaded()
        }
    }
}

import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// F3 and F9: folders of ours are ours, all the way up; else the daemon does not start.
@Suite(.timeLimit(.minutes(10)), .enabled(if: World.isPossible, Comment(rawValue: World.skip)))
struct OwnFoldersTests {
    /// Who besides us could change it.
    enum Weakness: String, CaseIterable, Sendable, CustomTestStringConvertible {
        /// Somebody else's.
        case foreign
        /// Ours, but anybody may write to it.
        case open
        /// A link that somebody else made, to a folder that is ours.
        case link
        var testDescription: String { rawValue }
    }

    private static let folders = ["work", "state", "processed", "failed", "output"]

    /// The pipeline's folders all lie in `FOLDER-of/below` each; the weakness is the upper one's.
    private func build(_ world: World, _ more: String = "") throws {
        for name in Self.folders {
            let upper = "\(name)-of"
            try Folder.make(world.path("\(upper)/below"))
            for path in [upper, "\(upper)/below"] {
                try World.own(world.path(path), world.daemonUser.user, world.daemonUser.group, 0o755)
            }
        }
        try world.pipeline(
            more + """
                work: ../work-of/below
                processed: ../processed-of/below
                failed: ../failed-of/below
                stages: [{ move: { to: ../output-of/below } }]
                """)
    }

    private func weaken(_ world: World, _ folder: String, _ weakness: Weakness) throws {
        let upper = world.path("\(folder)-of")
        switch weakness {
        case .foreign: try World.own(upper, Sender.stranger.rawValue, Sender.group, 0o755)
        case .open: try World.own(upper, world.daemonUser.user, world.daemonUser.group, 0o777)
        case .link:
            let real = world.path("\(folder)-real")
            _ = upper.withPlatformString { old in real.withPlatformString { Glibc.rename(old, $0) } }
            #expect(upper.withPlatformString { symlink(real.string, $0) } == 0)
            #expect(upper.withPlatformString { lchown($0, Sender.stranger.rawValue, Sender.group) } == 0)
        }
    }

    /// Starts the daemon; its exit status, or nil where it runs. `state`: as the tests of the state folder need it.
    private func starts(_ world: World) async throws -> (status: Int32?, text: String) {
        let words = [
            "run", world.path("pipelines").string, "--state", world.path("state-of/below").string, "--log-format",
            "json",
        ]
        var daemon = try DropmillProcess(
            words, in: world.root, log: world.scratch.path("log-\(UInt32.random(in: 0 ... .max))"),
            wrapper: world.wrapper)
        _ = try await eventually { try daemon.hasLogged("started") || daemon.hasEnded() }
        let status = daemon.status
        if status == nil { _ = try await daemon.stops() }
        return (status, daemon.transcript)
    }

    @Test("F3, F9: a folder of ours below somebody else's is refused", arguments: DaemonUser.allCases, folders)
    func refused(_ user: DaemonUser, _ folder: String) async throws {
        for weakness in Weakness.allCases {
            let world = try World(user)
            try build(world)
            try weaken(world, folder, weakness)
            let (status, text) = try await starts(world)
            #expect(status == 78, "\(folder), \(weakness): \(text)")
            #expect(text.contains("\(folder)-of"), "it names the folder: \(text)")
        }
    }

    @Test("F3: the same in doctor, and as it should be there is nothing to say", arguments: DaemonUser.allCases)
    func doctor(_ user: DaemonUser) async throws {
        let world = try World(user)
        try build(world)
        let state = ["--state", world.path("state-of/below").string]
        let well = try await starts(world)
        #expect(well.status == nil, "\(well.text)")
        let fine = try world.run(["doctor"] + state, paths: true)
        #expect(fine.status == 0, "\(fine.text)")
        try weaken(world, "work", .foreign)
        let output = try world.run(["doctor"] + state, paths: true)
        #expect(output.status != 0 && output.text.contains("work-of"), "\(output.text)")
    }

    @Test("F3: what is sticky, and what is trusted by name, is taken", arguments: DaemonUser.allCases)
    func exceptions(_ user: DaemonUser) async throws {
        let world = try World(user)
        try build(world)
        try World.own(world.path("work-of"), user.user, user.group, 0o1777)
        let sticky = try await starts(world)
        #expect(sticky.status == nil, "\(sticky.text)")
        try build(world, Rule.trust(world.path("work-of").string))
        try weaken(world, "work", .open)
        let trusted = try await starts(world)
        #expect(trusted.status == nil, "\(trusted.text)")
    }

    /// An inbox in a folder of the senders', who exchange it for a link to one that the daemon alone may enter.
    @Test("F3: no link of a sender's makes another folder the inbox", arguments: DaemonUser.allCases)
    func inboxExchanged(_ user: DaemonUser) async throws {
        let world = try World(user)
        try world.pipeline(
            "work: ../work\nmatch: { depth: all }\nstages: [{ move: { to: ../output } }]", inbox: "hers/in")
        try Folder.make(world.path("hers/in"))
        for path in ["hers", "hers/in"] { try World.own(world.path(path), user.user, Sender.group, 0o2775) }
        let target = world.path(user == .root ? "of-root" : "of-daemon")
        var daemon = try await world.startWatching()
        try #require(daemon.status == nil, "\(daemon.transcript)")
        // Root's own, as this process makes it, would be followed.
        let (link, hers) = (world.path("hers/in"), world.path("hers/link"))
        #expect(hers.withPlatformString { symlink(target.string, $0) } == 0)
        #expect(hers.withPlatformString { lchown($0, Sender.stranger.rawValue, Sender.group) } == 0)
        for (from, to) in [(link, world.path("hers/old")), (hers, link)] {
            let renamed = from.withPlatformString { old in to.withPlatformString { Glibc.rename(old, $0) } }
            #expect(renamed == 0)
        }
        #expect(try await eventually { try daemon.hasLogged("paused") || daemon.hasEnded() })
        #expect(try await daemon.stops())
        let (status, text) = try await startsAnew(world)
        #expect(status == 78 && text.contains("hers/in"), "\(text)")
        let output = try world.run(["doctor", "--state", world.path("state").string], paths: true)
        #expect(output.status != 0 && output.text.contains("the symbolic link"), "\(output.text)")
        let harm = try world.harm()
        #expect(harm.isEmpty, "\(harm.joined(separator: "\n"))")
        // A link of root's is the administrator's word.
        _ = link.withPlatformString { unlink($0) }
        #expect(link.withPlatformString { symlink(world.path("hers/old").string, $0) } == 0)
        daemon = try await world.startWatching()
        try world.prepare("honest", "x", as: .honest)
        try world.handIn("honest", inbox: "hers/old")
        #expect(try await eventually { try world.exists("output/honest") || daemon.hasEnded() }, "\(daemon.transcript)")
        #expect(try await daemon.stops())
    }

    private func startsAnew(_ world: World) async throws -> (status: Int32?, text: String) {
        var daemon = try world.start(log: "log-again")
        _ = try await eventually { try daemon.hasLogged("started") || daemon.hasEnded() }
        let status = daemon.status
        if status == nil { _ = try await daemon.stops() }
        return (status, daemon.transcript)
    }

    /// An inbox in a sticky folder, where whoever comes first makes `.dropmill`: hers is swapped for a link to a folder
    /// that the daemon alone may enter, and back, while it starts.
    @Test("F3: no swap of '.dropmill' brings the work folder elsewhere", arguments: DaemonUser.allCases)
    func swapped(_ user: DaemonUser) async throws {
        let world = try World(user)
        // 1,000 swaps in the short form, 1,000 starts in the long one.
        let starts = isLong ? 1000 : 5
        try world.pipeline("stages: [{ move: { to: ../output } }]")
        try World.own(world.root, user.user, user.group, 0o1777)
        let stranger: Stranger
        do {
            let work = world.path(".dropmill")
            try Folder.make(work)
            try World.own(work, Sender.stranger.rawValue, Sender.group, 0o777)
            let link = world.path(".lnk")
            let target = world.path(user == .root ? "of-root" : "of-daemon").string
            #expect(link.withPlatformString { symlink(target, $0) } == 0)
            #expect(link.withPlatformString { lchown($0, Sender.stranger.rawValue, Sender.group) } == 0)
            stranger = try world.stranger(["exchange", world.root.string, ".dropmill", ".lnk"])
        }
        try #require(try await stranger.says("ready"), "\(stranger.transcript)")
        var statuses: [Int32: Int] = [:]
        for _ in 0..<starts {
            var daemon = try world.start(["run", "--once"])
            let hasEnded = try await eventually { try daemon.hasEnded() }
            try #require(hasEnded, "\(daemon.transcript)")
            statuses[daemon.status ?? -1, default: 0] += 1
        }
        let rounds = Stranger.number("rounds", in: try await stranger.stop())
        print("stranger: \(user.rawValue), .dropmill: \(starts) starts, \(rounds) rounds, statuses \(statuses)")
        #expect(rounds >= 1000)
        #expect(statuses == [78: starts])
        let traces = try world.canaries.flatMap { try $0.traces() }
        #expect(traces.isEmpty, "\(traces.joined(separator: "\n"))")
        #expect(
            try world.canaries.allSatisfy { try Folder.names(in: $0.folder).count == 3 }, "something was made there")
    }
}

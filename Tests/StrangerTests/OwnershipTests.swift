import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// F2: what was verified is what is published, whatever the sender kept of her drop.
@Suite(.timeLimit(.minutes(5)), .enabled(if: World.isPossible, Comment(rawValue: World.skip)))
struct OwnershipTests {
    /// A stage that says when it runs, and goes on when it may: between verifying and publishing.
    private static func pause(_ world: World) -> String {
        let (here, go) = (world.path("between").string, world.path("go").string)
        return "run: { command: [sh, -c, \"touch \(here); until test -e \(go); do sleep 0.05; done\"] }"
    }

    /// The ways in which she can keep a hand on it. While a descriptor that can write is open the drop waits where the
    /// daemon sees it: root by a lease, and then nothing is to be shown.
    @Test(
        "F2: a drop cannot be changed once it was verified",
        arguments: [
            (DaemonUser.root, "reopen"), (.service, "reopen"), (.service, "open"), (.service, "flight"),
            (.service, "map"),
        ])
    func betweenStages(_ user: DaemonUser, _ how: String) async throws {
        let world = try World(user)
        try world.pipeline("stages: [checksum, { \(Self.pause(world)) }, { move: { to: ../output } }]")
        let clean = "clean " + String(repeating: "x", count: 8192) + "\n"
        let drop = try world.prepare("drop", clean)
        let stranger = try world.stranger(["hold", how, drop.string, "FORGED", world.path("between").string])
        try #require(try await stranger.says("ready"), "\(stranger.transcript)")
        try world.handIn("drop")
        var daemon = try await world.startWatching()
        let ran = try await eventually { try world.exists("between") || daemon.hasEnded() }
        try #require(ran && daemon.status == nil, "\(daemon.transcript)")
        // Whether or not she may still write is her affair.
        _ = try await stranger.end()
        try world.scratch.write("", to: "mill/go")
        let settled = try await eventually { try daemon.count("processed", "failed") == 1 }
        #expect(settled, "\(daemon.transcript)")
        let text = try world.text("output/drop")
        #expect(text == clean, "what she wrote was published: \(text.prefix(12)) …")
        #expect(try world.text("output/drop.sha256").hasPrefix(Canary.digest(of: text)))
        #expect(try await daemon.stops())
    }

    @Test("F2: what is published is not its sender's to change", arguments: DaemonUser.allCases)
    func afterPublication(_ user: DaemonUser) async throws {
        let world = try World(user)
        try world.pipeline("stages: [checksum, { move: { to: ../output } }]")
        let drop = try world.prepare("drop", "clean\n")
        let gate = world.path("go").string
        let stranger = try world.stranger(["hold", "reopen", drop.string, "FORGED", gate])
        try #require(try await stranger.says("ready"), "\(stranger.transcript)")
        try world.handIn("drop")
        var daemon = try await world.startWatching()
        let isThere = try await eventually { try world.exists("output/drop") || daemon.hasEnded() }
        try #require(isThere, "\(daemon.transcript)")
        let settled = try await eventually { try daemon.count("processed") == 1 }
        try #require(settled, "\(daemon.transcript)")
        try world.scratch.write("", to: "mill/go")
        _ = try await stranger.end()
        let byName = try world.stranger(["hold", "open", world.path("output/drop").string, "FORGED", gate])
        _ = try await byName.end()
        #expect(try world.text("output/drop") == "clean\n")
        #expect(try world.status("output/drop").st_uid == user.user)
        #expect(try await daemon.stops())
    }

    @Test("F2: the same in a folder", arguments: DaemonUser.allCases)
    func folder(_ user: DaemonUser) async throws {
        let world = try World(user)
        let stages = [
            "checksum: { manifest: SHA256SUMS }", Self.pause(world), "move: { to: \"../output/{stem}\" }",
        ]
        try world.pipeline(
            "stages: [\(stages.map { "{ \($0) }" }.joined(separator: ", "))]", ready: "quiet: 20ms, unit: folder")
        try world.prepareFolder("drop", ["file": "clean\n"])
        let file = world.path("home/drop/file").string
        let stranger = try world.stranger(["hold", "reopen", file, "FORGED", world.path("between").string])
        try #require(try await stranger.says("ready"), "\(stranger.transcript)")
        try world.handIn("drop")
        var daemon = try await world.startWatching()
        let ran = try await eventually { try world.exists("between") || daemon.hasEnded() }
        try #require(ran, "\(daemon.transcript)")
        _ = try await stranger.end()
        try world.scratch.write("", to: "mill/go")
        let settled = try await eventually { try daemon.count("processed", "failed") == 1 }
        #expect(settled, "\(daemon.transcript)")
        #expect(try world.text("output/drop/file") == "clean\n")
        for name in ["output/drop", "output/drop/file"] {
            #expect(try world.status(name).st_uid == user.user, "'\(name)' is still its sender's")
        }
        #expect(try await daemon.stops())
    }

    @Test("F2: what stays its sender's fails when it changes", arguments: DaemonUser.allCases)
    func kept(_ user: DaemonUser) async throws {
        let world = try World(user)
        try world.pipeline(Rule.keep + "stages: [checksum, { \(Self.pause(world)) }, { move: { to: ../output } }]")
        let drop = try world.prepare("drop", "clean\n")
        let stranger = try world.stranger(["hold", "reopen", drop.string, "FORGED", world.path("between").string])
        try #require(try await stranger.says("ready"), "\(stranger.transcript)")
        try world.handIn("drop")
        var daemon = try await world.startWatching()
        let ran = try await eventually { try world.exists("between") || daemon.hasEnded() }
        try #require(ran && daemon.status == nil, "\(daemon.transcript)")
        #expect(try await stranger.end().contains("wrote"), "or there is nothing to be seen")
        try world.scratch.write("", to: "mill/go")
        let settled = try await eventually { try daemon.count("processed", "failed") == 1 }
        #expect(settled, "\(daemon.transcript)")
        #expect(!world.exists("output/drop") && world.exists("failed/drop"))
        #expect(try daemon.hasLogged("failed", "claim.changed"), "\(daemon.transcript)")
        #expect(try await daemon.stops())
    }

    @Test("F2: what stays its sender's and is closed to us while we are away fails alone")
    func closedMeanwhile() async throws {
        let world = try World(.service)
        try world.pipeline(
            Rule.keep + "stages: [{ \(Self.pause(world)) }, { move: { to: \"../output/{stem}\" } }]",
            ready: "quiet: 20ms, unit: folder")
        try world.prepareFolder("drop", ["file": "x"])
        try Folder.make(world.path("home/drop/sub"))
        try World.own(world.path("home/drop/sub"), Sender.stranger.rawValue, Sender.group, 0o2775)
        try world.handIn("drop")
        var daemon = try await world.startWatching()
        let ran = try await eventually { try world.exists("between") || daemon.hasEnded() }
        try #require(ran && daemon.status == nil, "\(daemon.transcript)")
        try daemon.end()
        let active = world.path(".dropmill/main/active")
        let id = try #require(try Folder.names(in: active).first)
        #expect(active.appending(id).pushing("drop/sub").withPlatformString { chmod($0, 0) } == 0)
        try world.scratch.write("", to: "mill/go")
        daemon = try await world.startWatching()
        let isThere = try await eventually { try world.exists("failed/drop") || daemon.hasEnded() }
        #expect(isThere, "\(daemon.transcript)")
        #expect(try daemon.count("paused") == 0, "\(daemon.transcript)")
        #expect(try await daemon.stops())
    }

    @Test("F2: what failed is its sender's again, so that she can fetch it", arguments: DaemonUser.allCases)
    func failed(_ user: DaemonUser) async throws {
        let world = try World(user)
        try world.pipeline(
            "stages: [{ \(Self.pause(world)) }, { run: { command: [\"false\"] } }, { move: { to: ../output } }]")
        try world.drop("drop", "hers\n", mode: 0o640)
        var daemon = try await world.startWatching()
        let ran = try await eventually { try world.exists("between") || daemon.hasEnded() }
        try #require(ran, "\(daemon.transcript)")
        // Ours while we work with it, hers in the end.
        let claimed = try FileTree.list(world.path(".dropmill/main/active")).files.filter {
            $0.relative.lastComponent?.string == "drop" && $0.relative.components.count == 2
        }
        try #require(claimed.count == 1, "\(claimed)")
        let during = try World.status(of: world.path(".dropmill/main/active").pushing(claimed[0].relative))
        #expect(during.st_uid == user.user, "it is still its sender's while stages work with it")
        try world.scratch.write("", to: "mill/go")
        let settled = try await eventually { try daemon.count("failed") == 1 }
        #expect(settled, "\(daemon.transcript)")
        let after = try world.status("failed/drop")
        // Without the right to give it away, its mode is all that can be given back.
        if user == .root { #expect(after.st_uid == Sender.stranger.rawValue) }
        #expect(after.st_mode & 0o7777 == 0o640)
        #expect(try await daemon.stops())
    }

    @Test("F2: the same where 'failed' is on another file system", arguments: ["file", "folder"])
    func failedElsewhere(_ unit: String) async throws {
        let world = try World(.root)
        let mount = try TemporaryMount(tmpfs: "size=8m,mode=755", at: world.path("elsewhere"))
        try world.pipeline(
            "failed: ../elsewhere/failed\n"
                + "stages: [{ run: { command: [\"false\"] } }, { move: { to: \"../output/{stem}\" } }]",
            ready: "quiet: 20ms, unit: \(unit)")
        if unit == "file" {
            try world.drop("drop", "hers\n", mode: 0o640)
        } else {
            try world.dropFolder("drop", ["a": "hers\n"])
        }
        var daemon = try await world.startWatching()
        let settled = try await eventually { try daemon.count("failed") == 1 || daemon.hasEnded() }
        #expect(settled, "\(daemon.transcript)")
        for name in ["drop", "drop.error.json"] + (unit == "file" ? [] : ["drop/a"]) {
            let path = mount.path.appending("failed").pushing(FilePath(name))
            #expect(try World.status(of: path).st_uid == Sender.stranger.rawValue, "\(name)")
        }
        if unit == "file" {
            #expect(try World.status(of: mount.path.appending("failed").appending("drop")).st_mode & 0o7777 == 0o640)
        }
        #expect(try await daemon.stops())
    }

    @Test("F2: a link to somebody else's file is not taken", arguments: DaemonUser.allCases)
    func hardLink(_ user: DaemonUser) async throws {
        let world = try World(user)
        try world.pipeline("stages: [checksum, { move: { to: ../output } }]")
        // As a stranger could make it where `fs.protected_hardlinks` is 0.
        let other = try world.prepare("other", "somebody's\n", mode: 0o640, as: .honest)
        let link = world.path("inbox/theirs")
        #expect(other.withPlatformString { from in link.withPlatformString { Glibc.link(from, $0) } } == 0)
        var daemon = try await world.startWatching()
        try world.drop("honest", "x", as: .honest)
        let isThere = try await eventually { try world.exists("output/honest") || daemon.hasEnded() }
        #expect(isThere, "\(daemon.transcript)")
        let judged = try await eventually { try daemon.count("refused", "failed", "processed") >= 2 }
        #expect(judged, "\(daemon.transcript)")
        #expect(!world.exists("output/theirs"))
        let after = try World.status(of: other)
        #expect(after.st_uid == Sender.honest.rawValue && after.st_mode & 0o7777 == 0o640, "it was taken over")
        #expect(try world.text("home/other") == "somebody's\n")
        #expect(try await daemon.stops())
    }
}

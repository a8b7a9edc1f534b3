import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// F4 and F7: of the sender's rights nothing is published that is dangerous, and nothing that was closed is opened.
@Suite(.timeLimit(.minutes(5)), .enabled(if: World.isPossible, Comment(rawValue: World.skip)))
struct PublishedRightsTests {
    private func bits(_ world: World, _ path: String) throws -> mode_t { try world.status(path).st_mode & 0o7777 }

    private func settle(_ world: World, _ count: Int) async throws {
        var daemon = try await world.startWatching()
        let settled = try await eventually { try daemon.count("processed", "failed") >= count || daemon.hasEnded() }
        #expect(settled && daemon.status == nil, "\(daemon.transcript)")
        #expect(try await daemon.stops())
    }

    /// By a rename, or by a copy to another file system.
    @Test(
        "F4: set-id bits, lists of rights and attributes are not published", arguments: DaemonUser.allCases,
        [false, true])
    func special(_ user: DaemonUser, _ isCopied: Bool) async throws {
        let world = try World(user)
        let other = isCopied ? try TemporaryMount(tmpfs: "size=16m", at: world.path("output")) : nil
        try World.own(world.path("output"), user.user, user.group, 0o755)
        for unit in ["file", "folder"] {
            try Folder.make(world.path("in-\(unit)"))
            try World.own(world.path("in-\(unit)"), user.user, Sender.group, 0o2775)
        }
        try world.pipeline("stages: [{ move: { to: ../output } }]", name: "files", inbox: "in-file")
        try world.pipeline(
            "stages: [{ move: { to: \"../output/{stem}\" } }]", ready: "quiet: 20ms, unit: folder", name: "trees",
            inbox: "in-folder")
        let file = try world.prepare("file", "#!/bin/sh\n", mode: 0o6775)
        try world.prepareFolder("tree", ["file": "#!/bin/sh\n"])
        let inner = world.path("home/tree/file")
        try World.own(inner, Sender.stranger.rawValue, Sender.group, 0o6775)
        let decorator = try world.stranger(["decorate", file.string, inner.string], as: .root)
        try #require(try await decorator.end().contains("ready"), "\(decorator.transcript)")
        #expect(try World.status(of: file).st_mode & 0o7000 != 0)
        try world.handIn("file", inbox: "in-file")
        try world.handIn("tree", inbox: "in-folder")
        try await settle(world, 2)
        for path in ["output/file", "output/tree/file"] {
            #expect(try bits(world, path) & 0o7000 == 0, "'\(path)' keeps its set-id bits")
            #expect(try world.status(path).st_uid == user.user, "'\(path)' is its sender's")
            let left = try await world.stranger(["attributes", world.path(path).string], as: .root).end()
            #expect(left == "ready\n", "'\(path)' keeps \(left)")
        }
        #expect(try bits(world, "output/tree") & 0o6000 == 0)
        withExtendedLifetime(other) {}
    }

    @Test("F7: what was closed stays closed", arguments: DaemonUser.allCases)
    func closed(_ user: DaemonUser) async throws {
        // A service that the sender's mode lets in by the group alone.
        let mode: mode_t = user == .root ? 0o600 : 0o640
        let world = try World(user)
        let kinds = [
            "checksum": "checksum", "compress": "compress", "unpack": "unpack",
            "run": "run: { command: [sh, -c, \"cat {file}; exit 1\"] }",
        ]
        for (name, stage) in kinds {
            try Folder.make(world.path("in-\(name)"))
            try World.own(world.path("in-\(name)"), user.user, Sender.group, 0o2775)
            try world.pipeline(
                "stages: [{ \(stage.contains(":") ? stage : stage + ": {}") }, { move: { to: ../output/\(name) } }]",
                name: name, inbox: "in-\(name)")
            if name != "unpack" { try world.drop("drop", "private\n", mode: mode, inbox: "in-\(name)") }
        }
        var zip = ZipBuilder()
        zip.add("inner", content: "private\n")
        let archive = world.path("home/archive.zip")
        try world.scratch.write(zip.finished, to: archive)
        try World.own(archive, Sender.stranger.rawValue, Sender.group, mode)
        try world.handIn("archive.zip", inbox: "in-unpack")
        try await settle(world, 4)
        let files = try ["output", "processed", "failed"].flatMap { place in
            try FileTree.list(world.path(place)).files.map { "\(place)/\($0.relative.string)" }
        }
        #expect(files.count >= 6, "\(files)")
        for file in files {
            let bits = try bits(world, file)
            #expect(bits & 0o007 == 0, "'\(file)' is open to all: \(String(bits, radix: 8))")
        }
    }

    @Test("F7: the journal and the state folder are their user's alone", arguments: DaemonUser.allCases)
    func state(_ user: DaemonUser) async throws {
        let world = try World(user)
        try world.pipeline("stages: [{ move: { to: ../output } }]")
        try Folder.make(world.path("state"))
        try World.own(world.path("state"), user.user, user.group, 0o755)
        try world.drop("drop", "x")
        try await settle(world, 1)
        #expect(try bits(world, "state") == 0o700, "a wider one is narrowed")
        for file in try FileTree.list(world.path("state")).files {
            #expect(try bits(world, "state/\(file.relative.string)") & 0o077 == 0, "\(file.relative.string)")
        }
    }

    @Test("F4: outputs get the mode that the pipeline says", arguments: DaemonUser.allCases)
    func mode(_ user: DaemonUser) async throws {
        let world = try World(user)
        try world.pipeline(Rule.mode("0640") + "stages: [checksum, { move: { to: ../output } }]")
        try world.drop("drop", "x", mode: 0o666)
        try await settle(world, 1)
        #expect(try bits(world, "output/drop") == 0o640)
        #expect(try bits(world, "output/drop.sha256") == 0o640)
    }
}

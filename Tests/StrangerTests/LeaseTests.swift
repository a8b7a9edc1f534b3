import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// F6: trouble of one drop is that drop's.
@Suite(.timeLimit(.minutes(5)), .enabled(if: World.isPossible, Comment(rawValue: World.skip)))
struct LeaseTests {
    /// Drops one after the other, each when the last one is through; none may wait long.
    private func expectOthersPass(
        _ world: World, _ daemon: inout DropmillProcess, _ count: Int = 8, unit: String = "file"
    ) async throws {
        for number in 0..<count {
            let name = "honest-\(number)-of-\(count)"
            if unit == "file" {
                try world.drop(name, "x", as: .honest)
            } else {
                try world.dropFolder(name, as: .honest)
            }
            var process = daemon
            let isThere = try await eventually(within: .seconds(10)) {
                try world.exists("output/\(name)") || process.hasEnded()
            }
            daemon = process
            #expect(isThere && daemon.status == nil, "'\(name)' is held up: \(daemon.transcript)")
            if !isThere { break }
        }
        #expect(try daemon.count("paused") == 0, "\(daemon.transcript)")
    }

    @Test("F6: a lease on a drop holds up that drop alone", arguments: DaemonUser.allCases)
    func lease(_ user: DaemonUser) async throws {
        let world = try World(user)
        try world.pipeline("stages: [checksum, { move: { to: ../output } }]")
        let file = try world.prepare("held", "x")
        let stranger = try world.stranger(["lease", file.string])
        try #require(try await stranger.says("ready"), "\(stranger.transcript)")
        try world.handIn("held")
        var daemon = try await world.startWatching()
        // Before the kernel takes the lease away: 45 s after somebody wanted to open the file (lease-break-time).
        try await expectOthersPass(world, &daemon, 1)
        let status = try world.run(["status", "--state", world.path("state").string])
        #expect(status.text.contains("held") && !status.text.contains("paused"), "\(status.text)")
        try await expectOthersPass(world, &daemon)
        let line = status.text.split(separator: "\n").first { $0.contains("  held") } ?? ""
        #expect(line.contains("stranger") || line.contains("lease"), "it says for what: \(status.text)")
        // Once she lets go it is a drop like any other.
        try await stranger.stop()
        let isThere = try await eventually { try world.exists("output/held") || daemon.hasEnded() }
        #expect(isThere, "\(daemon.transcript)")
        #expect(try await daemon.stops())
    }

    @Test("F6: it counts for the timeout, and then fails alone", arguments: DaemonUser.allCases, ["file", "folder"])
    func timeout(_ user: DaemonUser, _ unit: String) async throws {
        let world = try World(user)
        let to = unit == "file" ? "../output" : "../output/{stem}"
        try world.pipeline("stages: [{ move: { to: \"\(to)\" } }]", ready: "quiet: 20ms, timeout: 2s, unit: \(unit)")
        if unit == "file" { try world.prepare("held", "x") } else { try world.prepareFolder("held", ["file": "x"]) }
        let stranger = try world.stranger(["lease", world.path(unit == "file" ? "home/held" : "home/held/file").string])
        try #require(try await stranger.says("ready"), "\(stranger.transcript)")
        try world.handIn("held")
        var daemon = try await world.startWatching()
        try await expectOthersPass(world, &daemon, 4, unit: unit)
        let failed = await eventually(within: .seconds(15)) { world.exists("failed/held") }
        #expect(failed, "\(daemon.transcript)")
        #expect(try daemon.count("paused") == 0)
        try await stranger.stop()
        #expect(try await daemon.stops())
    }

    /// What cannot be read cannot be copied either, and nothing else brings it to another file system.
    @Test("F6: nor does one that fails and cannot be brought to 'failed'", arguments: DaemonUser.allCases)
    func elsewhere(_ user: DaemonUser) async throws {
        let world = try World(user)
        let mount = try TemporaryMount(tmpfs: "size=8m,mode=755", at: world.path("elsewhere"))
        try World.own(mount.path, user.user, user.group, 0o755)
        try world.pipeline(
            "failed: ../elsewhere/failed\nstages: [checksum, { move: { to: ../output } }]",
            ready: "quiet: 20ms, timeout: 1s")
        // A daemon of root reads everything, but nobody opens a file that has a lease.
        let file = try world.prepare("held", "hers", mode: 0o600)
        let stranger = try user == .root ? world.stranger(["lease", file.string]) : nil
        if let stranger { try #require(try await stranger.says("ready"), "\(stranger.transcript)") }
        try world.handIn("held")
        var daemon = try await world.startWatching()
        // A first one is taken back when the original cannot follow it.
        let failed = await eventually(within: .seconds(15)) {
            (try? world.text("elsewhere/failed/held.error.json"))?.contains("is kept in") ?? false
        }
        #expect(failed, "\(daemon.transcript)")
        try await expectOthersPass(world, &daemon, 2)
        let report = try world.text("elsewhere/failed/held.error.json")
        #expect(report.contains("is kept in") && report.contains("/astray/"), "\(report)")
        // The report comes before what it speaks of.
        var kept: FileName?
        _ = try await eventually {
            if world.exists(".dropmill/main/astray") {
                kept = try Folder.names(in: world.path(".dropmill/main/astray")).first
            }
            return kept != nil
        }
        let folder = try #require(kept, "\(daemon.transcript)")
        if let stranger { try await stranger.stop() }
        #expect(try world.text(".dropmill/main/astray/\(folder.text)/held") == "hers")
        #expect(try await daemon.stops())
        let show = try world.run(["show", "held", "--state", world.path("state").string])
        #expect(show.text.contains("is kept in"), "\(show.text)")
        // Once it may be read it is sent in again from there.
        try World.own(world.path(".dropmill/main/astray/\(folder.text)/held"), user.user, user.group, 0o600)
        let retry = try world.run(["retry", "held", "--state-dir", world.path("state").string])
        #expect(retry.status == 0 && world.exists("inbox/held"), "\(retry.text)")
    }

    /// A folder is moved only by those who may write to it, and this one is its sender's.
    @Test("F6: nor does a folder that its sender closes once it is claimed")
    func closed() async throws {
        let world = try World(.service)
        let wait =
            "run: { when: shut, command: "
            + "[sh, -c, \"until test -e \(world.path("go").string); do sleep 0.1; done; exit 1\"] }"
        try world.pipeline(
            "ownership: keep\nstages: [{ \(wait) }, { move: { to: \"../output/{stem}\" } }]",
            ready: "quiet: 20ms, unit: folder")
        try world.prepareFolder("shut", ["file": "x"])
        let stranger = try world.stranger(["shut", world.path("home/shut").string, world.path("inbox/shut").string])
        try #require(try await stranger.says("ready"), "\(stranger.transcript)")
        var daemon = try await world.startWatching()
        try world.handIn("shut")
        try #require(try await stranger.says("shut"), "\(stranger.transcript) \(daemon.transcript)")
        try world.scratch.write("", to: "mill/go")
        let failed = await eventually { world.exists("failed/shut.error.json") }
        #expect(failed && !world.exists("failed/shut"), "\(daemon.transcript)")
        try await expectOthersPass(world, &daemon, 2, unit: "folder")
        #expect(try world.text("failed/shut.error.json").contains("/astray/"))
        #expect(try await daemon.stops())
    }

    @Test("F6: nor does one that is larger than where it is to go", arguments: DaemonUser.allCases)
    func tooLarge(_ user: DaemonUser) async throws {
        let world = try World(user)
        let mount = try TemporaryMount(tmpfs: "size=1m,mode=755", at: world.path("small"))
        try World.own(mount.path, user.user, user.group, 0o755)
        try world.pipeline(
            "stages: [{ move: { to: ../small/out, when: large } }, { move: { to: ../output, when: { not: large } } }]"
        )
        try world.drop("large", String(repeating: "x", count: 4 << 20))
        var daemon = try await world.startWatching()
        let failed = await eventually { world.exists("failed/large.error.json") && world.exists("failed/large") }
        #expect(failed, "\(daemon.transcript)")
        try await expectOthersPass(world, &daemon, 2)
        #expect(try world.names("small/out").isEmpty)
        #expect(try await daemon.stops())
    }

    /// Nobody can move it, be it root; a sender cannot make one, but a backup may bring it.
    @Test(
        "F6: a file that cannot be moved holds up nobody else", .enabled(if: Tool.find("chattr") != nil, "needs chattr")
    )
    func immutable() async throws {
        let world = try World(.root)
        try world.pipeline("stages: [checksum, { move: { to: ../output } }]")
        try world.drop("fixed", "x")
        let chattr = try #require(Tool.find("chattr"))
        guard try chattr.run(["+i", world.path("inbox/fixed").string]).status == 0 else { return }
        var daemon = try await world.startWatching()
        try await expectOthersPass(world, &daemon)
        #expect(try chattr.run(["-i", world.path("inbox/fixed").string]).status == 0)
        #expect(try await daemon.stops())
    }

    /// Folders of the lower layer cannot be moved without `redirect_dir`.
    @Test("F6: a folder that an overlay cannot move holds up nobody else")
    func overlay() async throws {
        let world = try World(.root)
        for name in ["lower", "upper", "merged", "layer"] { try Folder.make(world.path("on/\(name)")) }
        try Folder.make(world.path("on/lower/inbox/stuck"))
        try world.scratch.write("x", to: "mill/on/lower/inbox/stuck/file")
        let on = world.path("on").string
        let options = "lowerdir=\(on)/lower,upperdir=\(on)/upper,workdir=\(on)/layer,redirect_dir=off"
        // A tmpfs or ext4 can be an upper layer; where this one cannot there is nothing to be shown.
        guard mount("overlay", "\(on)/merged", "overlay", 0, options) == 0 else {
            print("stranger: skipped: no overlay can be mounted here: \(Errno.last)")
            return
        }
        defer { umount2("\(on)/merged", Int32(MNT_DETACH)) }
        try World.own(world.path("on/merged/inbox"), 0, Sender.group, 0o2775)
        try world.pipeline(
            "stages: [{ move: { to: \"../output/{stem}\" } }]", ready: "quiet: 20ms, unit: folder",
            inbox: "on/merged/inbox")
        var daemon = try await world.startWatching()
        for number in 0..<5 {
            // Made where it is: between two file systems nothing can be renamed.
            try Folder.make(world.path("on/merged/inbox/honest-\(number)"))
            let isThere = try await eventually(within: .seconds(10)) {
                try world.exists("output/honest-\(number)") || daemon.hasEnded()
            }
            #expect(isThere, "\(daemon.transcript)")
            if !isThere { break }
        }
        #expect(try daemon.count("paused") == 0, "\(daemon.transcript)")
        #expect(try await daemon.stops())
    }
}

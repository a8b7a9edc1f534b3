import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// F1b: `retry` puts files back into an inbox whose folders are the senders'.
@Suite(.timeLimit(.minutes(10)), .enabled(if: World.isPossible, Comment(rawValue: World.skip)))
struct RetrySwapTests {
    @Test("F1b: retry puts nothing into a folder that a name became a link to", arguments: DaemonUser.allCases)
    func retry(_ user: DaemonUser) async throws {
        let world = try World(user)
        let count = isLong ? 1000 : 150
        try world.pipeline("match: { depth: all }\nstages: [verify]", ready: "quiet: 1ms")
        let sub = world.path("inbox/sub")
        try Folder.make(sub)
        try World.own(sub, Sender.stranger.rawValue, Sender.group, 0o2775)
        for number in 0..<count {
            try world.prepare("a\(number)", "hers")
            try world.handIn("a\(number)", under: "sub/a\(number)")
        }
        var daemon = try world.start()
        let failed = try await eventually(within: .seconds(180)) {
            if try daemon.hasEnded() { return true }
            return try daemon.count("failed") == count
        }
        try #require(failed && daemon.status == nil, "\(daemon.transcript)")
        try #require(try await daemon.stops())

        // Where they would be without a link: she may write to it as to any folder of hers.
        let target = world.path(user == .root ? "of-root" : "of-daemon")
        let link = world.path("inbox/.lnk")
        #expect(link.withPlatformString { symlink(target.string, $0) } == 0)
        #expect(link.withPlatformString { lchown($0, Sender.stranger.rawValue, Sender.group) } == 0)
        let stranger = try world.stranger(["exchange", world.path("inbox").string, "sub", ".lnk"])
        try #require(try await stranger.says("ready"), "\(stranger.transcript)")
        let output = try world.run(["retry", "--failed", "--state-dir", world.path("state").string], paths: false)
        let rounds = Stranger.number("rounds", in: try await stranger.stop())
        print("stranger: \(user.rawValue), retry: \(rounds) rounds; \(output.text.suffix(200))")
        #expect(rounds >= 1000)
        let harm = try world.harm()
        #expect(harm.isEmpty, "\(harm.joined(separator: "\n"))")

        // None of them is lost: in the inbox, at its top or in the folder, whatever that is called now.
        let places = ["inbox", "inbox/sub", "inbox/.lnk", "failed", "failed/sub"].filter {
            Folder.kind(of: world.path($0)) == .folder
        }
        let left = try places.reduce(0) { sum, place in
            try sum + world.names(place).count { $0.hasPrefix("a") && !$0.hasSuffix(".json") }
        }
        #expect(left == count, "\(output.text)")
    }

    @Test("F1b: where a name became a link, the file goes to the inbox's top", arguments: DaemonUser.allCases)
    func fallsBack(_ user: DaemonUser) async throws {
        let world = try World(user)
        try world.pipeline("match: { depth: all }\nstages: [verify]")
        try Folder.make(world.path("inbox/sub"))
        try World.own(world.path("inbox/sub"), Sender.stranger.rawValue, Sender.group, 0o2775)
        try world.prepare("a", "hers")
        try world.handIn("a", under: "sub/a")
        var daemon = try world.start(["run", "--once"])
        #expect(try await eventually { try daemon.hasEnded() })
        try Folder.remove(world.path("inbox/sub"))
        let target = world.path("of-daemon").string
        #expect(world.path("inbox/sub").withPlatformString { symlink(target, $0) } == 0)
        let output = try world.run(["retry", "--failed", "--state-dir", world.path("state").string])
        #expect(world.exists("inbox/a"), "\(output.text)")
        #expect(try world.harm().isEmpty)
    }
}

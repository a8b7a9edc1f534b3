import Glibc
import SystemPackage
import TestSupport
import Testing

/// F5 and F15: what one sender drops takes no time and memory from the others.
@Suite(.timeLimit(.minutes(10)), .enabled(if: World.isPossible, Comment(rawValue: World.skip)))
struct BoundedLookTests {
    private static let stages = "stages: [{ move: { to: \"../output/{stem}\" } }]"

    @Test(
        "F5: a comb of nested folders holds up neither others, nor status, nor the stop", arguments: DaemonUser.allCases
    )
    func comb(_ user: DaemonUser) async throws {
        let world = try World(user)
        try world.pipeline(Self.stages, ready: "quiet: 20ms, unit: folder")
        // 8,000 folders; by their paths from the top on that is millions of openings.
        let stranger = try world.stranger(["nest", world.path("home/comb").string, "700", "10"])
        #expect(try await stranger.end().contains("ready"))
        var daemon = try await world.startWatching()
        try world.handIn("comb")
        try world.dropFolder("small")
        let isThere = await eventually(within: .seconds(10)) { world.exists("output/small/file") }
        #expect(isThere, "the small one waits behind it")
        let status = try world.run(["status", "--state", world.path("state").string])
        #expect(!status.text.contains("did not answer"), "\(status.text)")
        let judged = try await eventually(within: .seconds(isThere ? 30 : 1)) { try daemon.hasLogged("failed", "comb") }
        #expect(judged && world.exists("failed/comb"), "it is deeper than 64 folders and fails: \(daemon.transcript)")
        // And while it is looked at: another one.
        let second = try world.stranger(["nest", world.path("home/second").string, "700", "10"])
        #expect(try await second.end().contains("ready"))
        try world.handIn("second")
        #expect(try await daemon.stops(), "it does not stop")
        try daemon.end()
    }

    @Test("F5: nor do combs in an inbox whose folders are looked into", arguments: DaemonUser.allCases)
    func combsInInbox(_ user: DaemonUser) async throws {
        let world = try World(user)
        try world.pipeline("match: { depth: all }\nstages: [{ move: { to: ../output } }]")
        for name in ["one", "two", "three"] {
            let stranger = try world.stranger(["nest", world.path("home/\(name)").string, "700", "3"])
            #expect(try await stranger.end().contains("ready"))
        }
        var daemon = try await world.startWatching()
        for name in ["one", "two", "three"] { try world.handIn(name) }
        try world.drop("small", "x")
        let isThere = await eventually(within: .seconds(10)) { world.exists("output/small") }
        #expect(isThere, "the small one waits behind them")
        let told = try await eventually { try daemon.count("refused") >= 3 || daemon.hasEnded() }
        #expect(told && daemon.transcript.contains("64 folders deep"), "\(daemon.transcript)")
        #expect(try await daemon.stops(), "it does not stop")
    }

    @Test("F5: limits of a drop", arguments: ["size", "entries", "depth"])
    func limits(_ kind: String) async throws {
        let world = try World(.root)
        let limits = ["size": Rule.most(size: "1KiB"), "entries": Rule.most(entries: 5), "depth": Rule.most(depth: 2)]
        try world.pipeline(Self.stages, ready: "quiet: 20ms, unit: folder" + (limits[kind] ?? ""))
        var bad: [String: String] = [:]
        switch kind {
        case "size": bad = ["a": String(repeating: "x", count: 2000)]
        case "entries": for number in 0..<10 { bad["f\(number)"] = "x" }
        default: bad = [:]
        }
        try world.prepareFolder("bad", bad)
        if kind == "depth" {
            let nested = try world.stranger(["nest", world.path("home/bad/d").string, "3", "0"])
            #expect(try await nested.end().contains("ready"))
        }
        try world.handIn("bad")
        try world.dropFolder("good")
        var daemon = try await world.startWatching()
        let settled = try await eventually { try daemon.count("processed", "failed") == 2 || daemon.hasEnded() }
        #expect(settled, "\(daemon.transcript)")
        #expect(world.exists("failed/bad") && world.exists("output/good/file"), "\(daemon.transcript)")
        #expect(try await daemon.stops())
    }

    @Test("F15: a list of millions of lines costs neither memory nor the stop", arguments: ["manifest", "marker"])
    func longList(_ kind: String) async throws {
        let world = try World(.root)
        let line = "0 x\n"
        let list = String(repeating: line, count: (60 << 20) / line.utf8.count)
        if kind == "manifest" {
            try world.pipeline(Self.stages, ready: "quiet: 20ms, unit: folder, manifest: SHA256SUMS")
            try world.prepareFolder("list", ["SHA256SUMS": list, "x": ""])
        } else {
            try world.pipeline("stages: [{ move: { to: ../output } }]", ready: "quiet: 20ms, marker: \"{name}.done\"")
            try world.prepare("list", "x")
            try world.prepare("list.done", list)
            try world.handIn("list.done")
        }
        var daemon = try await world.startWatching()
        let before = try daemon.status("VmHWM")
        try world.handIn("list")
        // In kilobytes: 16 bytes a line are 240 MB; and no more than a list of a million lines should be needed.
        let most = before + 260_000
        var peak = before
        _ = try await eventually(within: .seconds(10)) {
            peak = try max(peak, daemon.status("VmHWM"))
            return try peak > most || daemon.count("processed", "failed", "refused") > 0 || daemon.hasEnded()
        }
        #expect(peak < most, "\(peak) kB, \(before) kB before")
        #expect(try await daemon.stops(within: .seconds(10)), "it does not stop")
        try daemon.end()
    }
}

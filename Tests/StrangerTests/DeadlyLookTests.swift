import Glibc
import SystemPackage
import TestSupport
import Testing

/// A drop that kills whoever looks at it.
@Suite(.timeLimit(.minutes(5)), .enabled(if: World.isPossible, Comment(rawValue: World.skip)))
struct DeadlyLookTests {
    private static let faultline = DropmillProcess.built("faultline")

    /// Whether this machine lets one process trace another.
    private static let isPossible: Bool = {
        do {
            return try Tool(faultline).run(["--calls", "write", "--", "/bin/true"]).status == 0
        } catch {
            return false
        }
    }()

    /// The words that start a program which dies when it opens one of these. Renaming does not count: it is to be
    /// possible to set the drop aside.
    private static func killing(at path: String) -> [String] {
        [faultline.string, "--calls", "openat,openat2", "--path", path, "--at", "1", "--kill", "--"]
    }

    /// Where it is looked at: in the inbox, and once it is claimed, or found claimed.
    enum Place: String, CaseIterable, Sendable {
        case inbox, work
        func pattern(_ name: String) -> String {
            self == .inbox ? "*/inbox/\(name)?(/*)" : "*/.dropmill/main/active/*/\(name)?(/*)"
        }
    }

    @Test(
        "F0: a drop at whose look the daemon dies is set aside, and nobody else",
        .enabled(if: isPossible, "needs the right to trace its own children"), arguments: Place.allCases,
        ["file", "folder"])
    func deadlyLook(_ place: Place, _ unit: String) async throws {
        let world = try World(.root)
        let to = unit == "file" ? "../output" : "../output/{stem}"
        try world.pipeline("stages: [{ move: { to: \"\(to)\" } }]", ready: "quiet: 20ms, unit: \(unit)")
        for name in ["before", "deadly", "later"] {
            if unit == "file" { try world.drop(name, "x") } else { try world.dropFolder(name) }
        }
        var deaths = 0
        var isOver = false
        while deaths < 8, !isOver {
            var daemon = try world.start(
                ["run", "--once"], log: "log-\(deaths)", wrapper: Self.killing(at: place.pattern("deadly")))
            let hasEnded = try await eventually { try daemon.hasEnded() }
            try #require(hasEnded, "\(daemon.transcript)")
            isOver = daemon.status.map { $0 < 125 } ?? false
            if !isOver { deaths += 1 }
        }
        #expect(deaths > 0, "it is to die at least once, or nothing is shown")
        #expect(isOver, "it died \(deaths) times and would go on so")
        #expect(world.exists("failed/deadly") && world.exists("failed/deadly.error.json"))
        #expect(world.exists("output/before") && world.exists("output/later"))
    }
}

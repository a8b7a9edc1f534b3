import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// F9: a journal that somebody else had a hand in speaks of renames that were never ours.
@Suite(.timeLimit(.minutes(5)), .enabled(if: World.isPossible, Comment(rawValue: World.skip)))
struct ForgedIntentTests {
    /// What of an intent is forged: what is moved away, or where something is moved to.
    enum End: String, CaseIterable, Sendable {
        case source, target
    }

    @Test(
        "F9: an intent that leads elsewhere is not carried out",
        .enabled(if: Tool.find("sqlite3") != nil, Comment(rawValue: Tool.skip("sqlite3"))), arguments: End.allCases)
    func elsewhere(_ end: End) async throws {
        let world = try World(.root)
        try world.pipeline("stages: [{ move: { to: ../output } }]")
        try world.drop("drop", "x")
        // It dies when its intents are on record, and nothing is moved yet; the second time the job has its own row.
        let faultline = DropmillProcess.built("faultline").string
        let killing = [faultline, "--calls", "renameat2", "--path", "*/output/*", "--at", "1", "--kill", "--"]
        for log in ["first", "second"] {
            var daemon = try world.start(["run", "--once"], log: log, wrapper: killing)
            let hasDied = try await eventually { try daemon.hasEnded() }
            try #require(hasDied && daemon.status == 137, "\(daemon.transcript)")
        }

        let canary = world.canaries[0].folder
        let secret = canary.appending("shadow")
        let inode = try World.status(of: secret).st_ino
        let change =
            switch end {
            case .source: "'$[0].source', '\(secret.string)', '$[0].inode', \(inode)"
            case .target: "'$[0].target', '\(canary.appending("planted").string)'"
            }
        let journal = world.path("state/journal.sqlite").string
        let sqlite = try #require(Tool.find("sqlite3"))
        let update = try sqlite.run([
            journal, "UPDATE jobs SET intents = json_set(intents, \(change)); SELECT intents FROM jobs",
        ])
        try #require(update.text.contains(canary.string), "\(update.text)")

        var next = try world.start(["run", "--once"], log: "next")
        let hasEnded = try await eventually { try next.hasEnded() }
        try #require(hasEnded, "\(next.transcript)")
        let harm = try world.harm()
        #expect(harm.isEmpty, "\(harm.joined(separator: "\n"))\n\(next.transcript)")
        #expect(!Folder.exists(canary.appending("planted")), "a drop was put into a folder that is none of ours")
        // The drop itself is somewhere.
        let places = try ["inbox", "output", "failed", ".dropmill"].flatMap { try FileTree.list(world.path($0)).files }
        #expect(places.contains { $0.relative.lastComponent?.string == "drop" }, "\(next.transcript)")
    }
}

extension Folder {
    fileprivate static func exists(_ path: FilePath) -> Bool { kind(of: path) != nil }
}

import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// F1: the sender of a folder swaps a folder in it for a symbolic link while the daemon is at work there.
@Suite(
    .timeLimit(.minutes(isLong ? 60 : 10)), .serialized, .enabled(if: World.isPossible, Comment(rawValue: World.skip)))
struct FolderSwapTests {
    /// How many drops are attacked together; each is swapped as often as the machine allows, so long as it lives.
    private static let wave = 12
    /// 1,000 drops in the long form. Rounds are counted in both: attempts to swap.
    private static let waves = isLong ? 84 : 1
    private static let leastRounds = 1000
    /// A wave may be over before it was swapped often enough.
    private static let mostWaves = max(waves, 8)

    /// What the daemon does while it is attacked.
    enum Work: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case remove, list, copy, compress, hash, publish

        /// The pipeline's lines, and at which moment the first swap happens.
        var lines: String {
            switch self {
            case .remove: "processed: delete\nstages: [{ copy: { to: [\"../output/{stem}\"] } }]"
            case .list: "stages: [{ select: { keep: \"*\" } }, { move: { to: \"../output/{stem}\" } }]"
            case .copy: "stages: [{ copy: { to: [\"../output/one/{stem}\", \"../output/two/{stem}\"] } }]"
            case .compress: "stages: [compress, { move: { to: ../output } }]"
            case .hash: "stages: [{ checksum: { manifest: SHA256SUMS } }, { move: { to: \"../output/{stem}\" } }]"
            case .publish: "stages: [{ move: { to: \"../output/{stem}\" } }]"
            }
        }
        var moment: String {
            switch self {
            case .remove: "delete"
            case .list, .publish: "claim"
            case .copy, .compress, .hash: "read"
            }
        }
        /// As many as it takes for a swap in their middle.
        var files: Int { self == .remove ? 200 : 10 }
        var testDescription: String { rawValue }
    }

    @Test(
        "F1: no swap of a folder in a drop leads out of it", arguments: DaemonUser.allCases, Work.allCases)
    func taken(_ user: DaemonUser, _ work: Work) async throws { try await attack(user, work, Rule.take) }

    @Test(
        "F1: nor where the drop stays its sender's", arguments: DaemonUser.allCases, Work.allCases)
    func kept(_ user: DaemonUser, _ work: Work) async throws { try await attack(user, work, Rule.keep) }

    private func attack(_ user: DaemonUser, _ work: Work, _ rule: String) async throws {
        let world = try World(user)
        try world.pipeline(rule + work.lines, ready: "quiet: 20ms, unit: folder")
        var daemon = try await world.startWatching()
        var rounds = 0
        var swapped = 0
        // The daemon's own user can read both canaries where it is root; else only its own.
        let target = world.path(user == .root ? "of-root" : "of-daemon").string
        var number = 0
        while number < Self.waves || (rounds < Self.leastRounds && number < Self.mostWaves) {
            defer { number += 1 }
            let stranger = try world.stranger([
                "swap", world.path("home").string, world.path("inbox").string, "w\(number)", "\(Self.wave)",
                "\(work.files)", target, work.moment,
            ])
            try #require(try await stranger.says("ready"), "\(stranger.transcript)")
            let wanted = (number + 1) * Self.wave
            // The stranger's loop holds the locks of the very folders that are worked on.
            let settled = try await eventually(within: .seconds(180)) {
                if try daemon.hasEnded() { return true }
                return try Self.settled(daemon) >= wanted
            }
            #expect(settled && daemon.status == nil, "\(daemon.transcript)")
            let said = try await stranger.stop()
            rounds += Stranger.number("rounds", in: said)
            swapped += Stranger.number("swapped", in: said)
            let harm = try world.harm()
            #expect(harm.isEmpty, "in wave \(number): \(harm.joined(separator: "\n"))")
            guard harm.isEmpty, settled else { return }
            // What was published holds no link that the drop did not have; where it is hers still, she may make some.
            if rule == Rule.take { try Self.expectNoLinks(below: world.path("output")) }
            for name in ["output", "processed", "failed"] { try Self.empty(world.path(name)) }
        }
        print("stranger: \(user.rawValue), \(work): \(rounds) rounds, \(swapped) swapped")
        #expect(rounds >= Self.leastRounds, "too few to show anything")
        #expect(try await daemon.stops())
    }

    /// Drops that are settled, or were refused and wait in the inbox for their sender.
    private static func settled(_ daemon: DropmillProcess) throws -> Int {
        try daemon.count("processed", "failed", "refused")
    }

    private static func expectNoLinks(below folder: FilePath) throws {
        let links = try FileTree.list(folder).links
        #expect(links.isEmpty, "'\(folder.text)' has links that nobody dropped: \(links.map(\.string))")
    }

    private static func empty(_ folder: FilePath) throws {
        for name in try Folder.names(in: folder) { try Folder.remove(folder.appending(name)) }
    }
}

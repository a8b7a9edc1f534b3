import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// kill -9 at random moments of a daemon, while people go on dropping things.
    @Suite struct RandomKillTests {
        /// `DROPMILL_SEED` repeats a run.
        private static let seed =
            getenv("DROPMILL_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 1...999_999)

        @Test func nothingIsLost() async throws {
            let kills = Torture.isLong ? 200 : 10
            var generator = SeededGenerator(seed: Self.seed)
            Torture.say("random kills with DROPMILL_SEED=\(Self.seed)")
            let scratch = try ScratchFolder()
            var producer = Producer(Mill(at: scratch.path))
            // A drop must not meet the limit of recoveries by chance.
            try producer.mill.build(quiet: "20ms", ["retry: { attempts: 100 }"])
            for round in 1...kills {
                try producer.drop(round, &generator)
                var daemon = try producer.mill.start(log: scratch.path("log"))
                let moment = Duration.milliseconds(Int.random(in: 10...400, using: &generator))
                let dropsAt = Duration.milliseconds(Int.random(in: 1...200, using: &generator))
                var ended = try await eventually(within: dropsAt) { try daemon.hasEnded() }
                try producer.drop(round, &generator)
                if !ended { ended = try await eventually(within: moment) { try daemon.hasEnded() } }
                #expect(!ended, "the daemon ended by itself, in round \(round): \(daemon.transcript)")
                try daemon.end()
            }
            try producer.finish()
            let last = try producer.mill.runOnce()
            // 1: there were bad archives among the last.
            #expect(last.status <= 1, "\(last.log.suffix(2000))")
            let violations = try producer.mill.violations(.settled)
            func count(_ kinds: Ledger.Violation.Kind...) -> Int { violations.count { kinds.contains($0.kind) } }
            Torture.say(
                "\(kills) of \(kills) kills, \(producer.mill.ledger.drops.count) files, "
                    + "\(count(.lost, .unsettled)) lost, "
                    + "\(count(.publishedTwice, .doubled)) published twice, \(count(.torn)) half-published, "
                    + "\(count(.misjudged, .leftover, .stranger)) otherwise wrong")
            #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
        }
    }

    /// People who drop things.
    private struct Producer {
        var mill: Mill
        private var number = 0
        private var writers: [SlowWriter] = []

        init(_ mill: Mill) { self.mill = mill }

        /// Drops a few things of any kind, and lets slow writers go on.
        mutating func drop(_ round: Int, _ generator: inout SeededGenerator) throws {
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                number += 1
                switch Int.random(in: 0..<10, using: &generator) {
                case 0..<3: try mill.dropPlain("file-\(number).txt", size: Int.random(in: 1...9000, using: &generator))
                case 3: try mill.dropPlain("same.txt", again: number)
                case 4: try mill.dropPlain("same.listed", again: number, fate: .listed)
                case 5..<7:
                    let members = Int.random(in: 2...12, using: &generator)
                    try mill.dropZip("archive-\(number).zip", members: members, size: 3000)
                case 7: try mill.dropZip("same.zip", again: number)
                case 8: try mill.dropBadZip("bad-\(number % 5).zip", again: number)
                default: writers.append(try SlowWriter(mill.layout.inbox, number))
                }
            }
            for writer in writers { try writer.write() }
            if writers.count > 3 { try endFirstWriter() }
        }

        mutating func finish() throws {
            while !writers.isEmpty { try endFirstWriter() }
        }

        private mutating func endFirstWriter() throws {
            let writer = writers.removeFirst()
            writer.close()
            mill.ledger.note(writer.name, writer.content, .published)
        }
    }

    /// Writes a file in the inbox over several rounds and keeps it open, as a slow upload does.
    private final class SlowWriter {
        let name: String
        private(set) var content: [UInt8] = []
        private var file: Int32

        init(_ inbox: FilePath, _ number: Int) throws(IOError) {
            name = "slow-\(number).txt"
            let path = inbox.appending(name)
            file = path.withPlatformString { Glibc.open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644) }
            guard file >= 0 else { throw IOError("create", path, .last) }
        }

        func write() throws(IOError) {
            let piece = Mill.content("\(name) \(content.count)", size: 500)
            let written = piece.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard written == piece.count else { throw IOError("write", FilePath(name), .last) }
            content += piece
        }

        func close() {
            Glibc.close(file)
            file = -1
        }

        deinit { if file >= 0 { Glibc.close(file) } }
    }
}

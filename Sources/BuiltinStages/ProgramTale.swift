import PipelineKit
import Programs

/// What a program wrote, for people: the end of each stream, without what must not be told.
struct ProgramTale {
    /// The most bytes of each stream that a failure tells.
    static let mostBytes = 16 << 10
    /// The most bytes of each stream that a job's history tells; both fit into `StageNotes`.
    private static let briefBytes = 1900

    private let streams: [(name: String, written: Program.Written)]
    private let secrets: [[UInt8]]

    /// What it wrote. `secrets`: what each place of theirs is to be replaced by stars; shorter ones than four bytes are
    /// found everywhere and hide nothing.
    init(_ outcome: Program.Outcome, without secrets: [String]) {
        streams = [("standard error", outcome.error), ("standard output", outcome.output)]
        self.secrets = secrets.map { Array($0.utf8) }.filter { $0.count >= 4 }
    }

    /// For a failure.
    var whole: String { told(Self.mostBytes) }

    /// For a job's history.
    var brief: String { told(Self.briefBytes) }

    private func told(_ most: Int) -> String {
        streams.filter { $0.written.count > 0 }.map { name, written in
            let hidden = Masking.masked(written.tail, secrets, isCut: written.tail.count < written.count)
            // Nothing begins in the middle of a character.
            let shown = hidden.count > most ? hidden.suffix(most).drop { $0 & 0xC0 == 0x80 } : hidden[...]
            var remark =
                shown.count < hidden.count || written.tail.count < written.count
                ? ", the last \(shown.count) of \(written.count) bytes" : ""
            if let failure = written.failure { remark += ", as far as it could be kept (\(failure))" }
            var text = String(decoding: shown, as: UTF8.self)
            while text.last?.isNewline == true { text.removeLast() }
            return "\(name)\(remark):\n\(text)"
        }.joined(separator: "\n")
    }
}

/// Replaces secrets in what is shown.
enum Masking {
    /// The bytes with stars in the place of each secret; the longer of two that begin at one place goes first.
    /// `isCut`: they are the end of something, and may begin within a secret.
    static func masked(_ bytes: [UInt8], _ secrets: [[UInt8]], isCut: Bool) -> [UInt8] {
        if secrets.isEmpty { return bytes }
        let secrets = secrets.sorted { $0.count > $1.count }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = isCut ? secrets.map { restOfSecret($0, in: bytes) }.max() ?? 0 : 0
        if index > 0 { result += stars }
        while index < bytes.count {
            let rest = bytes[index...]
            if let secret = secrets.first(where: { rest.starts(with: $0) }) {
                result += stars
                index += secret.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    private static let stars = Array("***".utf8)

    /// How many of the first bytes are the end of a secret.
    private static func restOfSecret(_ secret: [UInt8], in bytes: [UInt8]) -> Int {
        (1..<secret.count).reversed().first { bytes.starts(with: secret.suffix($0)) } ?? 0
    }
}

import PipelineKit
import Programs

/// What a program wrote, for people: the end of each stream, without its secrets.
struct ProgramOutput {
    /// The most bytes of each stream that a failure shows.
    static let mostBytes = 16 << 10
    /// The most bytes of each stream that a job's history shows; both fit into `StageNotes`.
    private static let briefBytes = 1900

    private let streams: [(name: String, written: Program.Written)]
    private let secrets: [[UInt8]]

    /// What it wrote. `secrets`: what is not to be shown.
    init(_ outcome: Program.Outcome, without secrets: [String]) {
        streams = [("standard error", outcome.error), ("standard output", outcome.output)]
        self.secrets = secrets.map { Array($0.utf8) }
    }

    var full: String { text(Self.mostBytes) }

    var summary: String { text(Self.briefBytes) }

    private func text(_ most: Int) -> String {
        streams.filter { $0.written.count > 0 }.map { name, written in
            let hidden = Masking.masked(written.tail, secrets, beginsWithin: written.tail.count < written.count)
            // Nothing begins in the middle of a character.
            let shown = hidden.count > most ? hidden.suffix(most).drop { $0 & 0xC0 == 0x80 } : hidden[...]
            var remark =
                shown.count < hidden.count || written.tail.count < written.count
                ? ", the last \(shown.count) of \(written.count) bytes" : ""
            if let failure = written.failure { remark += ", cut off because it cannot be kept (\(failure))" }
            var lines = String(decoding: shown, as: UTF8.self)
            while lines.last?.isNewline == true { lines.removeLast() }
            return "\(name)\(remark):\n\(lines)"
        }.joined(separator: "\n")
    }
}

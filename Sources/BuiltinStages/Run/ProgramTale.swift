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

    /// What it wrote. `secrets`: what is to be replaced by stars.
    init(_ outcome: Program.Outcome, without secrets: [String]) {
        streams = [("standard error", outcome.error), ("standard output", outcome.output)]
        self.secrets = secrets.map { Array($0.utf8) }
    }

    /// For a failure.
    var whole: String { told(Self.mostBytes) }

    /// For a job's history.
    var brief: String { told(Self.briefBytes) }

    private func told(_ most: Int) -> String {
        streams.filter { $0.written.count > 0 }.map { name, written in
            let hidden = Masking.masked(written.tail, secrets, beginsWithin: written.tail.count < written.count)
            // Nothing begins in the middle of a character.
            let shown = hidden.count > most ? hidden.suffix(most).drop { $0 & 0xC0 == 0x80 } : hidden[...]
            var remark =
                shown.count < hidden.count || written.tail.count < written.count
                ? ", the last \(shown.count) of \(written.count) bytes" : ""
            if let failure = written.failure { remark += ", cut off because it cannot be kept (\(failure))" }
            var text = String(decoding: shown, as: UTF8.self)
            while text.last?.isNewline == true { text.removeLast() }
            return "\(name)\(remark):\n\(text)"
        }.joined(separator: "\n")
    }
}

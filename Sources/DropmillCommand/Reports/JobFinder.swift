import Files
import Journal
import PipelineKit

/// Finds a job by its id, the beginning of it, or its drop's name.
enum JobFinder {
    enum Match: Equatable {
        case found(JobRecord)
        /// Nothing, or too much: a sentence with its remedy.
        case nothing(String)
    }

    private static let shown = 3

    /// An id comes first, then the beginning of exactly one, then a name; of several drops of a name the newest.
    static func find(_ text: String, in journal: any JournalReading) throws(JournalError) -> Match {
        let upper = text.uppercased()
        if let id = JobID(upper), let record = try journal.job(id) { return .found(record) }
        var similar: [JobRecord] = []
        if !upper.isEmpty, upper.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) {
            var query = JobQuery()
            query.idPrefix = upper
            query.limit = shown + 1
            similar = try journal.jobs(query)
            if similar.count == 1 { return .found(similar[0]) }
        }
        for name in names(text) {
            var query = JobQuery()
            query.name = name
            query.limit = 1
            if let record = try journal.jobs(query).first { return .found(record) }
        }
        let what = EscapedText.of(RawArguments.bytes(of: text))
        guard !similar.isEmpty else {
            return .nothing("no job has the id or name '\(what)'; 'dropmill jobs' lists all jobs")
        }
        let some = similar.prefix(shown).map { "\($0.id.text) (\($0.drop.name.text))" }.joined(separator: ", ")
        let rest = similar.count > shown ? ", …" : ""
        return .nothing("'\(what)' is ambiguous: \(some)\(rest); type more of the id")
    }

    /// The names that the text may mean: as it is, and with the escapes undone that names are shown with.
    private static func names(_ text: String) -> [FileName] {
        let plain = FileName(RawArguments.bytes(of: text))
        guard text.contains("\\") else { return plain.map { [$0] } ?? [] }
        return [plain, FileName(unescaped(RawArguments.bytes(of: text)))].compactMap { $0 }
    }

    /// The bytes that `EscapedText` shows like this.
    private static func unescaped(_ text: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let mark = rest.first else {
                bytes.append(byte)
                continue
            }
            switch mark {
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "\\"): bytes.append(mark)
            case UInt8(ascii: "x"):
                let digits = String(decoding: rest.dropFirst().prefix(2), as: UTF8.self)
                guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { fallthrough }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default:
                bytes.append(byte)
                continue
            }
            rest = rest.dropFirst()
        }
        return bytes
    }
}

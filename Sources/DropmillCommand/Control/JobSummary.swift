import Files
import FoundationEssentials
import Journal
import PipelineKit

/// How many jobs, of which size, and the first of their drops' names.
struct JobSummary: Codable, Equatable {
    var jobs: Int
    var bytes: Int64
    /// In bytes.
    var names: [Data]

    private static let mostNames = 5

    init(_ records: [JobRecord]) {
        jobs = records.count
        bytes = records.reduce(Int64(0)) { $0.addingSaturated($1.drop.size) }
        names = records.prefix(Self.mostNames).map { Data($0.drop.name.bytes) }
    }

    /// `3 jobs, 12.4 MiB: a.pdf, b.pdf, c.pdf`
    var text: String {
        let first = names.map { EscapedText.of(Array($0)) }.joined(separator: ", ") + (jobs > names.count ? ", …" : "")
        return "\(jobs == 1 ? "1 job" : "\(jobs) jobs"), \(ByteSize(bytes: bytes))" + (jobs == 0 ? "" : ": \(first)")
    }

    func write(_ json: inout JSONText) {
        json.integer("jobs", Int64(jobs))
        json.integer("bytes", bytes)
        json.names("names", names.map { Array($0) })
    }
}

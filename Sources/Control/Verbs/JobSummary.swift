import Files
package import FoundationEssentials
package import Journal
package import PipelineKit

/// How many jobs, of which size, and the first of their drops' names.
package struct JobSummary: Codable, Equatable, Sendable {
    package var jobs: Int
    package var bytes: Int64
    /// In bytes.
    package var names: [Data]
    /// Whether there are more, which were not looked for.
    package var more: Bool?

    private static let mostNames = 5

    package init() { (jobs, bytes, names) = (0, 0, []) }

    package init(_ records: [JobRecord]) {
        self.init()
        for record in records { add(record) }
    }

    package mutating func add(_ record: JobRecord) {
        jobs += 1
        bytes = bytes.addingSaturated(record.drop.size)
        if names.count < Self.mostNames { names.append(Data(record.drop.name.bytes)) }
    }

    /// `3 jobs, 12.4 MiB: a.pdf, b.pdf, c.pdf`
    package var text: String {
        let first = names.map { EscapedText.of(Array($0)) }.joined(separator: ", ") + (jobs > names.count ? ", …" : "")
        return "\(jobs == 1 ? "1 job" : "\(jobs) jobs"), \(ByteSize(bytes: bytes))"
            + (jobs == 0 ? "" : ": \(first)")
    }

    package func write(_ json: inout JSONText) {
        json.integer("jobs", Int64(jobs))
        json.integer("bytes", bytes)
        if more == true { json.flag("more", true) }
        json.names("names", names.map { Array($0) })
    }
}

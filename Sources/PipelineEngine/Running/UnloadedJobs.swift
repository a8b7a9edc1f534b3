import Files
package import Journal
package import PipelineKit
import SystemPackage

/// Unfinished jobs of a pipeline that is not loaded.
package struct UnloadedJobs: Sendable {
    package let pipeline: String
    package let count: Int
    /// One that is loaded and has its inbox or its work folder: it may be the same under another name.
    package let heir: Pipeline?

    init(_ pipeline: String, _ count: Int, inbox: FilePath?, works: [FilePath] = [], among loaded: [Pipeline]) {
        (self.pipeline, self.count) = (pipeline, count)
        heir = loaded.first { $0.inbox == inbox || $0.work.map(works.contains) ?? false }
    }

    init(_ pipeline: String, _ count: Int, of record: PipelineRecord?, among loaded: [Pipeline]) {
        self.init(pipeline, count, inbox: record?.inbox, works: record?.works.map(\.path) ?? [], among: loaded)
    }

    /// Those on record, where these pipelines are to be loaded.
    package static func all(in journal: any JournalReading, but loaded: [Pipeline]) throws(JournalError)
        -> [UnloadedJobs]
    {
        let known = Set(loaded.map(\.name) + loaded.compactMap(\.formerly))
        let records = Dictionary(try journal.pipelines().map { ($0.name, $0) }) { first, _ in first }
        let left = Dictionary(grouping: try journal.unfinished(), by: \.pipeline).filter { !known.contains($0.key) }
        return left.sorted { $0.key < $1.key }.map { name, jobs in
            UnloadedJobs(name, jobs.count, of: records[name], among: loaded)
        }
    }

    package var text: String {
        (count == 1 ? "1 unfinished job belongs" : "\(count) unfinished jobs belong")
            + " to the pipeline '\(pipeline)', which is not loaded: \(Self.remedy(pipeline))"
            + (heir.map {
                "; or say 'formerly: \(pipeline)' in \($0.source.text), and '\($0.name)' takes over"
            } ?? "")
    }

    /// What can be done about jobs of a pipeline that is not loaded.
    package static func remedy(_ pipeline: String) -> String {
        "run it again, or have another take over ('formerly: \(pipeline)' in its file); 'dropmill release --pipeline "
            + "\(pipeline)' sends the drops back to the inbox, 'dropmill forget JOB' gives a job up"
    }
}

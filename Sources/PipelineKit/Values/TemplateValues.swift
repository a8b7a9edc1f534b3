package import Files
import SystemPackage

/// What the placeholders of a job's templates stand for.
package struct TemplateValues: Sendable {
    /// The drop's name.
    package var name: FileName
    /// The folders between the inbox and the drop; empty at the top.
    package var folders: [FileName]
    /// The pipeline's name.
    package var pipeline: String
    /// The job's id.
    package var job: String
    /// When the job was claimed.
    package var date: Timestamp
    /// What stages found out so far, by name (see `Payload.knownFacts`).
    package var facts: [String: [UInt8]] = [:]

    package init(name: FileName, folders: [FileName] = [], pipeline: String, job: String, date: Timestamp) {
        self.name = name
        self.folders = folders
        self.pipeline = pipeline
        self.job = job
        self.date = date
    }
}

import Files
import Journal
import PipelineKit
import SystemPackage

/// How far the removal of a folder's originals is. What it says may come from a client.
package struct PruneCursor: Sendable, Equatable, Codable {
    package enum Phase: String, Sendable, Codable {
        /// What an earlier run began and did not end.
        case unfinished
        /// Looks for those that others have removed, which are not to count.
        case looking
        case removing
        /// Folders that were made for originals and are empty.
        case folders
    }

    package private(set) var phase: Phase
    /// Whether it has looked for those that others have removed.
    var hasLooked = false
    /// The last one that was looked at in this phase: the end of its job, and its id.
    private var at: Int64?
    private var job: String?
    /// The last folder that was looked at.
    private var folder: [UInt8]?
    /// How many of those on record do not count, and how many bytes they have: they have other names, or would be gone
    /// by now if anything were removed.
    private(set) var files = 0
    private(set) var bytes: Int64 = 0
    /// How many bytes would be free by now.
    var freed: Int64 = 0

    package init() { phase = .unfinished }

    var last: ExpiredJob? {
        get {
            guard let at, let id = job.flatMap({ JobID($0) }) else { return nil }
            return ExpiredJob(id, at: Timestamp(nanoseconds: at))
        }
        set { (at, job) = (newValue?.at.nanoseconds, newValue?.id.text) }
    }

    var lastFolder: FilePath? {
        get { folder.map { FilePath(bytes: $0.filter { $0 != 0 }) } }
        set { folder = newValue?.bytes }
    }

    /// Goes on with the next phase, from its beginning.
    mutating func enter(_ phase: Phase) {
        self.phase = phase
        (last, lastFolder) = (nil, nil)
    }

    /// One that does not count.
    mutating func leaveOut(_ file: KeptFile) {
        files = files.addingSaturated(1)
        bytes = bytes.addingSaturated(file.bytes)
    }
}

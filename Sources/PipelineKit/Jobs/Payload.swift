public import Files
public import SystemPackage

/// The files that a job carries: at first the drop itself; a stage hands on the same or a new payload.
public struct Payload: Sendable, Hashable {
    /// One file, or a folder of files.
    public enum Shape: Sendable, Hashable {
        /// The file of this name in `root`.
        case file(FileName)
        /// All that `root` holds.
        case folder
    }

    /// The folder that holds the payload's files.
    public var root: FilePath
    /// Whether it is a file or a folder.
    public var shape: Shape
    /// Whether it is still the dropped original.
    public package(set) var isDrop: Bool
    /// Files to write beside the payload wherever it is published.
    package var sidecars: [Sidecar] = []
    /// Lines that lists get wherever it is published.
    package var lines: [ListLine] = []
    /// Where it is to be published at settlement; nil: not at all (an unchanged drop then goes to processed).
    public var destination: FilePath?
    /// What is to be published besides, at the same time.
    package var copies: [PayloadCopy] = []
    /// Digests of a single-file payload, in hexadecimal, by algorithm, as computed by stages.
    public var digests: [String: String] = [:]
    /// What else stages found out about it, by name: `type`.
    public var facts: [String: String] = [:]
    /// Whether no further stage is needed: the drop goes to processed as it came, and nothing but copies that were made
    /// before is published.
    public var isDone = false

    /// The drop itself.
    package init(dropOf job: Job) {
        root = job.drop.isFolder ? job.original : job.folder
        shape = job.drop.isFolder ? .folder : .file(job.drop.name)
        isDrop = true
    }

    /// A new payload that a stage made: one file in a folder.
    public init(file name: FileName, in root: FilePath) {
        self.root = root
        shape = .file(name)
        isDrop = false
    }

    /// A new payload that a stage made: everything in a folder.
    public init(folder root: FilePath) {
        self.root = root
        shape = .folder
        isDrop = false
    }

    /// This payload in place of another, with its destination. Sidecars, lines and facts described the other one.
    public func inPlace(of other: Payload) -> Payload {
        var payload = self
        payload.destination = other.destination
        payload.copies = other.copies
        return payload
    }

    /// The facts that templates and conditions can use.
    package var knownFacts: [String: String] { digests.merging(facts) { _, fact in fact } }

    /// The payload's path: the file, or the folder.
    public var path: FilePath {
        switch shape {
        case .file(let name): root.appending(name)
        case .folder: root
        }
    }

    /// The path of one of its files.
    public func path(of file: TreeFile) -> FilePath { root.pushing(file.relative) }
}

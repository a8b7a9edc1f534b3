import Dispatch
import Glibc
import Synchronization
package import SystemPackage

/// What a stage may use while it runs one job.
package struct StageContext: Sendable {
    /// The job's id.
    package let job: JobID
    /// The thing that was dropped.
    package let drop: Drop
    /// What placeholders stand for.
    package let values: TemplateValues
    /// Whether to stop.
    package let cancellation: Cancellation
    /// How far it is, for the log.
    package let progress: StageProgress
    /// What is worth knowing of how it went.
    package let notes: StageNotes
    /// What is to stay free on the work folder's file system.
    package let reserve: ByteSize
    /// Whether what the stage makes is brought to the disk before it is published.
    package let durability: Durability
    /// How long the run may take before it is called off; nil where the pipeline says nothing.
    package let timeLimit: Duration?
    /// Which content came before.
    package let seen: any SeenContent
    /// A folder with what was dropped along (a marker, a sidecar), where there may be one.
    package let alongside: FilePath?
    /// Why the job failed, for a stage of `on_failure`; nil for any other.
    package let failed: JobFailure?
    /// Whether whoever sent the drop can still write to it (`ownership: keep`).
    package let isShared: Bool
    /// A name for the queues it opens: `dropmill.<pipeline>.<stage>.<n>`.
    package let label: String
    private let scratchPath: FilePath

    /// The stage's place in its pipeline, such as `3-http`.
    package var place: String { String((scratchPath.lastComponent?.string ?? "").drop { $0 == "." }) }

    /// A context. `scratch` need not exist.
    package init(
        job: JobID, drop: Drop, values: TemplateValues, scratch: FilePath, cancellation: Cancellation = Cancellation(),
        progress: StageProgress = StageProgress(), notes: StageNotes = StageNotes(),
        reserve: ByteSize = ByteSize(bytes: 0), durability: Durability = .fast, timeLimit: Duration? = nil,
        seen: any SeenContent = NothingSeen(), alongside: FilePath? = nil, failed: JobFailure? = nil,
        isShared: Bool = false, label: String = "dropmill.stage"
    ) {
        self.isShared = isShared
        self.job = job
        self.drop = drop
        self.values = values
        scratchPath = scratch
        self.cancellation = cancellation
        self.progress = progress
        self.notes = notes
        self.reserve = reserve
        self.durability = durability
        self.timeLimit = timeLimit
        self.seen = seen
        self.alongside = alongside
        self.failed = failed
        self.label = label
    }

    /// Makes the stage's own folder, empty, and gives its path. It is on the work folder's file system and within the
    /// job's private folder, so it has the mode that it is to be published with: 0777 less the umask.
    package func makeScratch() throws(StageFailure) -> FilePath {
        do throws(IOError) {
            try Folder.open(jobFolder).makeClean(scratchPath.lastEntry, mode: 0o777)
            return scratchPath
        } catch {
            throw StageFailure(inStage: error)
        }
    }

    /// The job's folder, which nobody else can enter.
    private var jobFolder: FilePath { scratchPath.removingLastComponent() }

    /// Opens a folder of the job, such as a payload's `root`: from the job's folder down, so that no link leads away.
    package func open(_ folder: FilePath) throws(IOError) -> Folder {
        var relative = folder
        guard relative.removePrefix(jobFolder) else { throw IOError("open", folder, .improperLink) }
        let job = try Folder.open(jobFolder)
        return relative.isEmpty ? job : try job.folder(relative)
    }

    /// All that belongs to a payload; of a single file nothing but the file.
    package func tree(of payload: Payload) throws(IOError) -> FileTree {
        switch payload.shape {
        case .file(let name): FileTree(files: [TreeFile(FilePath().appending(name))])
        case .folder: try FileTree.list(try open(payload.root))
        }
    }

    /// A payload's regular files, by path bytes.
    package func files(of payload: Payload) throws(IOError) -> [TreeFile] { try tree(of: payload).files }

    /// Opens a single-file payload's file for reading.
    package func open(_ name: FileName, of payload: Payload) throws(IOError) -> OpenFile {
        try open(TreeFile(FilePath().appending(name)), of: payload)
    }

    /// Opens one of a payload's files for reading.
    package func open(_ file: TreeFile, of payload: Payload) throws(IOError) -> OpenFile {
        try open(file, below: payload.root)
    }

    /// Opens a file below a folder of the job for reading.
    package func open(_ file: TreeFile, below root: FilePath) throws(IOError) -> OpenFile {
        // Most payloads are the drop itself: its name in the job's folder, and every folder on that way is ours.
        if root == jobFolder, file.relative.components.count == 1 {
            return try OpenFile.open(root.pushing(file.relative), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        }
        return try open(root).open(file.relative, O_RDONLY | O_NONBLOCK)
    }

    /// Throws `cancelled` once the work is called off.
    package func checkCancelled() throws(StageFailure) {
        if cancellation.isCancelled { throw .cancelled }
    }

    /// Runs the body for every item, several at once on serial queues of their own, at most one per core; returns the
    /// results in the items' order, or throws the failure of the first item that has one. Others are not started then.
    package func concurrently<Item: Sendable, Result: Sendable>(
        _ items: [Item], _ body: @escaping @Sendable (Item) throws(StageFailure) -> Result
    ) throws(StageFailure) -> [Result] {
        let lanes = min(items.count, Self.cores)
        if lanes <= 1 {
            var results: [Result] = []
            for item in items {
                try checkCancelled()
                results.append(try body(item))
            }
            return results
        }
        let shared = Lanes<Result>(count: items.count)
        let group = DispatchGroup()
        for lane in 0..<lanes {
            let queue = DispatchQueue(label: "\(label).\(lane)")
            queue.async(group: group) { @Sendable in
                while let index = shared.next() {
                    do throws(StageFailure) {
                        try self.checkCancelled()
                        shared.finish(index, .success(try body(items[index])))
                    } catch {
                        shared.finish(index, .failure(error))
                    }
                }
            }
        }
        group.wait()
        return try shared.results()
    }

    private static let cores = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}

/// What the lanes of `concurrently` share.
private final class Lanes<Value: Sendable>: Sendable {
    private struct State {
        var next = 0
        var failed = false
        var results: [Result<Value, StageFailure>?]
    }

    private let state: Mutex<State>

    init(count: Int) { state = Mutex(State(results: Array(repeating: nil, count: count))) }

    /// The next item's index, or nil when all are taken or one has failed.
    func next() -> Int? {
        state.withLock { state in
            guard !state.failed, state.next < state.results.count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    func finish(_ index: Int, _ result: Result<Value, StageFailure>) {
        state.withLock { state in
            if case .failure = result { state.failed = true }
            state.results[index] = result
        }
    }

    func results() throws(StageFailure) -> [Value] {
        var values: [Value] = []
        for result in state.withLock({ $0.results }) {
            // Items are taken in order, so what was not started comes after the failure that stopped it.
            guard let result else { break }
            values.append(try result.get())
        }
        return values
    }
}

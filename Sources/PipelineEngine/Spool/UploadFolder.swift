import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage

/// A folder that comes file by file. Nobody else can change what is in it: it is ours, and each file is checked once
/// its writer has closed it.
final class UploadFolder: Sendable {
    private struct State {
        /// The file that comes now.
        var current: UploadFile?
        /// How many files, and how many files and folders, there are, and how many bytes the files have.
        var files = 0
        var entries = 0
        var size: Int64 = 0
        var isOver = false
    }

    private let files: Int
    private let size: Int64
    private let isDurable: Bool
    let folder: HeldFolder
    /// Held as long as something is made in it, so that nothing is while it is removed.
    private let state = Mutex(State())

    /// `files` and `size`: what is to come.
    init(_ folder: HeldFolder, files: Int, size: Int64, isDurable: Bool) {
        (self.folder, self.files, self.size, self.isDurable) = (folder, files, size, isDurable)
    }

    /// Begins a file in it, once the one before is there, and opens it for whoever writes it.
    func begin(_ path: DropPath, size: Int64, in pipeline: Pipeline) throws(UploadRefusal) -> OpenFile {
        try open { state throws(UploadRefusal) in
            try finishCurrent(&state)
            let sum = state.size.addingSaturated(size)
            guard size >= 0, state.files < files, sum <= self.size else {
                throw UploadRefusal(
                    .otherLength,
                    "with it there would be \(state.files + 1) files of \(ByteSize(bytes: sum)), and \(files) of "
                        + "\(ByteSize(bytes: self.size)) were announced",
                    remedy: "Announce all of them when the folder is begun.")
            }
            try makeFolders(path.folder, &state, pipeline)
            try count(&state, pipeline)
            let file: UploadFile
            do throws(IOError) {
                file = try UploadFile(FilePath(bytes: path.bytes), below: folder, size: size)
            } catch {
                throw Self.refusal(error, path)
            }
            state.current = file
            state.files += 1
            state.size = sum
            return try file.openForWriting()
        }
    }

    /// Makes a folder in it; one that is there is left as it is.
    func make(_ path: DropPath, in pipeline: Pipeline) throws(UploadRefusal) {
        try open { state throws(UploadRefusal) in
            try makeFolders(path.folder.appending(path.name), &state, pipeline)
        }
    }

    /// How many bytes have come, but for the file that comes now.
    var arrived: Int64 {
        state.withLock { $0.size.subtractingSaturated($0.current?.size ?? 0) }
    }

    /// Throws unless all that was announced is there; brings it to the disk.
    func finish() throws(UploadRefusal) {
        try open { state throws(UploadRefusal) in
            try finishCurrent(&state)
            guard state.files == files, state.size == size else {
                throw UploadRefusal(
                    .otherLength,
                    "\(state.files) files of \(ByteSize(bytes: state.size)) have come, and \(files) of "
                        + "\(ByteSize(bytes: size)) were announced",
                    remedy: "Send it again, whole.")
            }
            guard isDurable else { return }
            try UploadRefusal.refusing { () throws(IOError) in
                for path in try FileTree.list(folder.folder).folders { try folder.folder.folder(path).file.sync() }
                try folder.sync()
            }
        }
    }

    /// It is a drop as others are. What a kill leaves out does no harm.
    func settle() { _ = fchmod(folder.folder.file.descriptor, 0o755) }

    /// Nothing more comes: what is being made now is there when this returns.
    func close() { state.withLock { $0.isOver = true } }

    private func open<Result: ~Copyable>(
        _ body: (inout State) throws(UploadRefusal) -> Result
    ) throws(UploadRefusal) -> Result {
        try state.withLock { state throws(UploadRefusal) in
            guard !state.isOver else {
                throw UploadRefusal(.failed, "its connection was closed", remedy: "Send it again.")
            }
            return try body(&state)
        }
    }

    private func finishCurrent(_ state: inout State) throws(UploadRefusal) {
        guard let file = state.current else { return }
        try file.checkContent()
        if isDurable { try UploadRefusal.refusing { () throws(IOError) in try file.file.sync() } }
        state.current = nil
    }

    private func makeFolders(
        _ path: InboxFolder, _ state: inout State, _ pipeline: Pipeline
    ) throws(UploadRefusal) {
        var above = InboxFolder.top
        for name in path.names {
            let place = DropPath(name, in: above)
            above = above.appending(name)
            let relative = FilePath(bytes: above.bytes)
            do throws(IOError) {
                switch try folder.folder.kind(of: relative) {
                case .folder: continue
                case nil: break
                default: throw IOError("create the folder", folder.path.pushing(relative), .notDirectory)
                }
            } catch {
                throw Self.refusal(error, place)
            }
            try count(&state, pipeline)
            do throws(IOError) {
                try folder.folder.make(relative, mode: 0o755)
            } catch {
                throw Self.refusal(error, place)
            }
        }
    }

    private func count(_ state: inout State, _ pipeline: Pipeline) throws(UploadRefusal) {
        try pipeline.checkEntries(state.entries + 1)
        state.entries += 1
    }

    private static func refusal(_ error: IOError, _ path: DropPath) -> UploadRefusal {
        switch error.errno {
        case .fileExists, .isDirectory, .notDirectory:
            UploadRefusal(
                .nameTaken, "something in the folder is called '\(path.text)' already", remedy: "Send each once.")
        default: UploadRefusal(error)
        }
    }
}

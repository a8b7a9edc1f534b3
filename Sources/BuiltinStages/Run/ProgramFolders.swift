import Files
import Glibc
import PipelineKit
import SystemPackage

/// The folders that a program is given, of this run alone: what an earlier run may have left running knows no path to
/// them.
struct ProgramFolders {
    /// Where it begins, and where it leaves what it makes.
    let output: FilePath
    let temporary: FilePath

    /// The one that holds the others, and nothing else.
    let own: FilePath

    private let scratch: FilePath

    init(in scratch: FilePath) throws(Failure) {
        self.scratch = scratch
        own = scratch.appending(String(UInt64.random(in: 0...UInt64.max), radix: 36))
        output = own.appending("out")
        temporary = own.appending("tmp")
        do throws(IOError) {
            try Folder.make(output)
            try Folder.make(temporary, mode: 0o700)
        } catch {
            throw Failure(inStage: error)
        }
    }

    /// A copy of the payload (of shared blocks where the file system has them). The program may move, edit or remove
    /// it: the drop must not be lost by that, and another run must find what this one found. `isOurs`: whether it is to
    /// belong to this process's user, since a program that is confined has no more rights than that, be it root's.
    func standIn(
        for payload: Payload, isOurs: Bool, _ context: StageContext
    ) throws(Failure) -> FilePath {
        let folder = own.appending("in")
        let copy = folder.appending(payload.fileName ?? context.job.drop.name)
        do throws(IOError) {
            try Folder.make(folder, mode: 0o700)
            // A folder's own path from the job's folder on, or a file's from its root on.
            let root = try context.open(payload.root)
            try Transfer.copy(
                payload.fileName.map { FilePath().appending($0) } ?? FilePath(), in: root, to: copy.lastEntry,
                in: try context.open(folder), isStopped: context.work.isStopped)
            if isOurs, geteuid() == 0 { try Self.takeOwnership(of: copy) }
        } catch {
            try context.checkCancelled()
            throw Failure(inStage: error)
        }
        return copy
    }

    /// Makes a copy this process's user's, with all that it holds.
    private static func takeOwnership(of copy: FilePath) throws(IOError) {
        var paths = [copy]
        if Folder.kind(of: copy) == .folder {
            let tree = try FileTree.list(copy)
            paths += (tree.files.map(\.relative) + tree.folders + tree.links).map { copy.pushing($0) }
        }
        for path in paths where path.withPlatformString({ lchown($0, geteuid(), getegid()) }) != 0 {
            throw IOError("change the owner of", path, .last)
        }
    }

    /// Where one of the program's streams is kept: `stdin`, `stdout`, `stderr`.
    func written(_ stream: String) -> FilePath { scratch.appending(stream) }

    /// Takes what the program has left, away from where it was told to put it. Returns the folder, which is the same in
    /// each run; nil where it has left none.
    func collect() throws(Failure) -> FilePath? {
        guard Folder.kind(of: output) == .folder else { return nil }
        let moved = output.withPlatformString { from in result.withPlatformString { rename(from, $0) } }
        guard moved == 0 else { throw Failure(inStage: IOError("move", output, .last)) }
        return result
    }

    private var result: FilePath { scratch.appending("made") }

    /// Adds the payload's own files to what was collected; a name that both have is a failure.
    func add(_ payload: Payload, to made: FileTree, _ context: StageContext) throws(Failure) -> Payload {
        do throws(IOError) {
            let tree = try context.tree(of: payload)
            // A link that the program made must not become the way to a folder of the payload's.
            let leaves = Set(made.files.map(\.bytes)).union(made.links.map(\.bytes))
            let taken = leaves.union(made.folders.map(\.bytes))
            for path in tree.files.map(\.relative) + tree.links where taken.contains(path.bytes) {
                throw IOError("add", path, .fileExists)
            }
            for path in tree.folders where leaves.contains(path.bytes) { throw IOError("add", path, .fileExists) }
            let source = try context.open(payload.root)
            let target = try context.open(result)
            for folder in tree.folders { try target.make(folder) }
            for path in tree.files.map(\.relative) + tree.links {
                if context.work.cancellation.isCancelled { break }
                if payload.isDrop {
                    try Transfer.copy(path, in: source, to: path, in: target, isStopped: context.work.isStopped)
                } else {
                    try Rebuilding.link(path, in: source, as: path, in: target)
                }
            }
            // What nobody else could look into stays so, the deepest first: what is put into a folder changes its time.
            for folder in tree.folders.reversed() {
                try Transfer.copyFolderMetadata(folder, in: source, to: folder, in: target)
            }
            if payload.shape == .folder {
                try Transfer.copyFolderMetadata(FilePath(), in: source, to: FilePath(), in: target)
            }
        } catch {
            try context.checkCancelled()
            guard error.action == "add" else { throw Failure(building: error) }
            throw .file(
                "run.taken", "The program created '\(error.path.text)', which the payload already contains.",
                remedy: "Have it write under another name, or set 'output: replace'.")
        }
        try context.checkCancelled()
        return Payload(folder: result).inPlace(of: payload)
    }
}

import Glibc
import PipelineKit
import SystemPackage

/// The folders that a program is given.
struct ProgramFolders {
    /// Where it begins, and where it leaves what it makes.
    let output: FilePath
    /// For what it needs meanwhile.
    let temporary: FilePath

    private let scratch: FilePath

    init(in scratch: FilePath) throws(StageFailure) {
        self.scratch = scratch
        output = scratch.appending("out")
        temporary = scratch.appending("tmp")
        do throws(IOError) {
            try Folder.make(output)
            try Folder.make(temporary, mode: 0o700)
        } catch {
            throw StageFailure(inStage: error)
        }
    }

    /// A copy of the payload (of shared blocks where the file system has them). The program may move, edit or remove it:
    /// the drop must not be lost by that, and another run must find what this one found.
    func standIn(for payload: Payload, _ context: StageContext) throws(StageFailure) -> FilePath {
        let folder = scratch.appending("in")
        let copy = folder.appending(payload.fileName ?? context.drop.name)
        do throws(IOError) {
            try Folder.make(folder, mode: 0o700)
            try Transfer.copy(payload.path, to: copy) { context.cancellation.isCancelled }
        } catch {
            try context.checkCancelled()
            throw StageFailure(inStage: error)
        }
        return copy
    }

    /// Where one of the program's streams is kept: `stdin`, `stdout`, `stderr`.
    func written(_ stream: String) -> FilePath { scratch.appending(stream) }

    /// Adds the payload's own files to what was made; a name that both have is a failure.
    func add(_ payload: Payload, to made: FileTree, _ context: StageContext) throws(StageFailure) -> Payload {
        do throws(IOError) {
            let tree = try payload.tree()
            // A link that the program made must not become the way to a folder of the payload's.
            let leaves = Set(made.files.map(\.bytes)).union(made.links.map(\.bytes))
            let taken = leaves.union(made.folders.map(\.bytes))
            for path in tree.files.map(\.relative) + tree.links where taken.contains(path.bytes) {
                throw IOError("add", path, .fileExists)
            }
            for path in tree.folders where leaves.contains(path.bytes) { throw IOError("add", path, .fileExists) }
            for folder in tree.folders { try Folder.make(output.pushing(folder)) }
            for path in tree.files.map(\.relative) + tree.links {
                if context.cancellation.isCancelled { break }
                if payload.isDrop {
                    try Transfer.copy(payload.root.pushing(path), to: output.pushing(path)) {
                        context.cancellation.isCancelled
                    }
                } else {
                    try Rebuilding.link(payload.root.pushing(path), as: output.pushing(path))
                }
            }
            for folder in tree.folders.reversed() where !taken.contains(folder.bytes) {
                try Transfer.copyFolderMetadata(payload.root.pushing(folder), to: output.pushing(folder))
            }
        } catch {
            try context.checkCancelled()
            guard error.action == "add" else { throw StageFailure(building: error) }
            throw .file(
                "run.taken", "The program made '\(error.path.text)', which is in the payload already.",
                remedy: "Let it write under another name, or set 'output: replace'.")
        }
        try context.checkCancelled()
        return Payload(folder: output).inPlace(of: payload)
    }
}

import Digests
import Files
import Glibc
package import PipelineKit
import SystemPackage

/// Also publishes a copy of the payload.
package struct CopyStage: OwnStage {
    private static let to = StageOption<[PathTemplate]>.folders("to", "the folders to publish a copy in")

    package static let descriptor = StageDescriptor(
        kind: "copy",
        summary:
            "Publishes a copy of the payload as it is now in each folder of `to`, in addition to `move` and just as "
            + "safely.",
        options: [to.erased],
        effects: [.publishesCopy],
        example: #"copy: { to: ["/mnt/backup/{date:%Y/%m}", "../outbox"] }"#)

    private let to: [PathTemplate]

    package init(options: StageOptions) throws(OptionProblem) {
        to = try options.value(Self.to)
    }

    package func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        try context.checkCancelled()
        let scratch = try context.makeScratch()
        let tree = try Failure.onIOError { () throws(IOError) in try context.tree(of: payload) }
        let hashing = PayloadHashing(root: payload.root, algorithms: [.xxh3], context: context)
        let digests = try hashing.digests(of: tree.files)
        var copied = payload
        copied.copies.removeAll { $0.path.starts(with: scratch) }
        for (index, target) in to.enumerated() {
            let folder = scratch.appending("\(index + 1)")
            try copy(tree, of: payload, to: folder, digests, context)
            let path = payload.fileName.map { folder.appending($0) } ?? folder
            copied.copies.append(
                PayloadCopy(
                    path: path, of: payload.path, isFolder: payload.shape == .folder, sidecars: payload.sidecars,
                    lines: payload.lines, destination: try target.destination(of: payload, of: context.job, for: "copy")
                ))
        }
        return copied
    }

    /// Copies everything, then reads it once more: a copy is one only if it has the same digests.
    private func copy(
        _ tree: FileTree, of payload: Payload, to folder: FilePath, _ digests: [[Digest]], _ context: StageContext
    ) throws(Failure) {
        do throws(IOError) {
            let source = try context.open(payload.root)
            try context.open(folder.removingLastComponent()).make(folder.lastEntry)
            let target = try context.open(folder)
            for path in tree.folders { try target.make(path) }
            // What has several names in the payload has them in the copy, too: an archive may hold very many.
            let linked = LinkedFiles<FilePath>()
            for path in tree.files.map(\.relative) + tree.links {
                if context.work.cancellation.isCancelled { break }
                guard let status = try source.status(of: path) else {
                    throw IOError("examine", payload.root.pushing(path), .noSuchFileOrDirectory)
                }
                let first = try linked.value(of: status) { () throws(IOError) in
                    try Transfer.copy(path, in: source, to: path, in: target, isStopped: context.work.isStopped)
                    return path
                }
                if first != path { try Rebuilding.link(first, in: target, as: path, in: target) }
            }
            // What nobody else could look into stays so. What is put into a folder changes its time, so the deepest
            // come first.
            if payload.shape == .folder {
                for path in tree.folders.reversed() + [FilePath()] {
                    try Transfer.copyFolderMetadata(path, in: source, to: path, in: target)
                }
            }
        } catch {
            try context.checkCancelled()
            throw Failure(inStage: error)
        }
        try context.checkCancelled()
        let hashing = PayloadHashing(root: folder, algorithms: [.xxh3], context: context)
        guard try hashing.digests(of: tree.files) == digests else {
            throw Failure(
                .environment, code: "copy.differs",
                summary: "The copy of '\(context.job.drop.name)' differs from the original.",
                remedy: "Check the disk and the memory of this machine; processing resumes by itself.")
        }
    }
}

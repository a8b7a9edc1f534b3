import Digests
import Files
import Glibc
import PipelineKit
import SystemPackage

/// Hashes the files of a payload, on several cores where there are several files. A file of many names (hard links) is
/// read once: an archive can hold very many of them at no cost to whoever made it.
struct PayloadHashing {
    let root: FilePath
    let algorithms: [DigestAlgorithm]
    let context: StageContext

    /// The most files that one core takes at a time: enough for the work of handing them out not to count.
    private static let largestShare = 64

    /// The digests of each file, in the order of the files and the algorithms.
    func digests(of files: [TreeFile], announcingSize: Bool = false) throws(Failure) -> [[Digest]] {
        let linked = LinkedFiles<[Digest]>()
        if files.count == 1, let file = files.first {
            // Most payloads are one file, which needs no open folder.
            var hasher = try hasher()
            let opened = try Failure.onIOError { () throws(IOError) in try context.open(file, below: root) }
            return [try digests(of: file, opened, &hasher, announcingSize, linked)]
        }
        let folder = try Failure.onIOError { () throws(IOError) in try context.open(root) }
        let share = max(1, min(files.count / 64, Self.largestShare))
        let starts = Array(stride(from: 0, to: files.count, by: share))
        let shares = try context.concurrently(starts) { (start) throws(Failure) -> [[Digest]] in
            var hasher = try hasher()
            return try files[start..<min(start + share, files.count)].map { (file) throws(Failure) in
                try context.checkCancelled()
                let opened = try Failure.onIOError { () throws(IOError) in
                    try folder.open(file.relative, O_RDONLY | O_NONBLOCK)
                }
                return try digests(of: file, opened, &hasher, announcingSize, linked)
            }
        }
        return Array(shares.joined())
    }

    private func hasher() throws(Failure) -> FileHasher {
        try hashing(FilePath()) { () throws(DigestError) in try FileHasher.make(algorithms) }
    }

    private func digests(
        of file: TreeFile, _ opened: borrowing OpenFile, _ hasher: inout FileHasher, _ announcingSize: Bool,
        _ linked: LinkedFiles<[Digest]>
    ) throws(Failure) -> [Digest] {
        let status = try Failure.onIOError { () throws(IOError) in try opened.status() }
        let descriptor = opened.descriptor
        if announcingSize { context.work.progress.expect(bytes: Int64(status.st_size)) }
        let found = try linked.value(of: status) { () throws(Failure) in
            try hashing(file.relative) { () throws(DigestError) in
                try hasher.hash(descriptor: descriptor, size: status.st_size) { (count) throws(DigestError) in
                    context.work.progress.add(bytes: Int64(count))
                    if context.work.cancellation.isCancelled { throw .stopped }
                }
            }
        }
        context.work.progress.add(entries: 1)
        return found
    }

    private func hashing<Result: ~Copyable>(
        _ file: FilePath, _ body: () throws(DigestError) -> Result
    ) throws(Failure) -> Result {
        do throws(DigestError) {
            return try body()
        } catch {
            switch error {
            case .stopped: throw .cancelled
            case .unreadable(let errno): throw Failure(inStage: IOError("read", root.pushing(file), errno))
            case .unavailable, .failed:
                throw Failure(
                    .environment, code: "checksum.algorithm", summary: "The digests cannot be computed.",
                    remedy: "Choose another algorithm, or allow it in OpenSSL's configuration.", detail: "\(error)")
            }
        }
    }
}

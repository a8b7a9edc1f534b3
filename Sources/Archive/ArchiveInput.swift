import Glibc
import SystemPackage

/// Reads a compressed file block by block, and lets its caller call that off between any two. What undoes a compression
/// may swallow much without giving anything (zeros that fill up a tape, frames to be skipped), so this is asked where
/// it reads, not only where it gives.
final class ArchiveInput {
    /// Whether the caller wants no more.
    typealias IsStopped = () -> Bool

    private let descriptor: Int32
    private let isStopped: IsStopped
    private let block = UnsafeMutableRawBufferPointer.allocate(byteCount: ArchiveReader.blockSize, alignment: 16)
    /// What ended the reading, for whoever only learns from a library that there is nothing more.
    private(set) var failure: ArchiveError?

    /// Reads from the descriptor, which must stay open, from where it stands.
    init(_ descriptor: Int32, isStopped: @escaping IsStopped) {
        self.descriptor = descriptor
        self.isStopped = isStopped
    }

    deinit { block.deallocate() }

    /// Throws once the work is called off.
    func checkStopped() throws(ArchiveError) {
        if isStopped() { throw fail(.stopped) }
    }

    /// The next block, valid until the next call; empty at the end.
    func next() throws(ArchiveError) -> UnsafeMutableRawBufferPointer {
        if let failure { throw failure }
        while true {
            try checkStopped()
            let count = read(descriptor, block.baseAddress, block.count)
            if count >= 0 { return UnsafeMutableRawBufferPointer(rebasing: block[..<count]) }
            if errno != EINTR { throw fail(.system(action: "read", entry: nil, errno: Errno(rawValue: errno))) }
        }
    }

    private func fail(_ error: ArchiveError) -> ArchiveError {
        failure = error
        return error
    }
}

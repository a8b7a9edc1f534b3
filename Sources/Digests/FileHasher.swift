import Glibc
import SystemPackage

/// Hashes files, one after another, into one or several algorithms in one pass over the data. Keeps its contexts and
/// its buffer from file to file, so that small files cost little beside their system calls. One hasher per worker.
package struct FileHasher: ~Copyable {
    /// The most that is read at once. More gains nothing, and the caches still hold it when the second algorithm comes
    /// by.
    private static let largestBuffer = 256 << 10
    private static let smallestBuffer = 8 << 10

    // A plain pointer: from changing what cannot be copied in a buffer pointer, Swift 6.3's thread sanitizer makes code
    // that its own compiler refuses.
    private let contexts: UnsafeMutablePointer<DigestContext>
    private let count: Int
    private var buffer: UnsafeMutableRawBufferPointer

    private init(contexts: UnsafeMutablePointer<DigestContext>, count: Int) {
        self.contexts = contexts
        self.count = count
        buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    deinit {
        contexts.deinitialize(count: count)
        contexts.deallocate()
        buffer.deallocate()
    }

    /// A hasher whose results come in the order of the algorithms.
    package static func make(_ algorithms: [DigestAlgorithm]) throws(DigestError) -> FileHasher {
        let contexts = UnsafeMutablePointer<DigestContext>.allocate(capacity: algorithms.count)
        for (index, algorithm) in algorithms.enumerated() {
            do throws(DigestError) {
                (contexts + index).initialize(to: try DigestContext.start(algorithm))
            } catch {
                contexts.deinitialize(count: index)
                contexts.deallocate()
                throw error
            }
        }
        return FileHasher(contexts: contexts, count: algorithms.count)
    }

    /// Hashes what the descriptor still gives, up to its end. `size`: how much that is, where it is known already.
    /// `onBlock` is told the bytes of each block that was taken in; what it throws ends the work.
    package mutating func hash(
        descriptor: Int32, size: Int? = nil, onBlock: (Int) throws(DigestError) -> Void = { (_) throws(DigestError) in }
    ) throws(DigestError) -> [Digest] {
        try prepareBuffer(for: descriptor, size)
        for index in 0..<count { try contexts[index].restart() }
        while true {
            let length = try readBlock(descriptor)
            if length == 0 { break }
            let block = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<length])
            for index in 0..<count { try contexts[index].update(block) }
            try onBlock(length)
        }
        var digests: [Digest] = []
        digests.reserveCapacity(count)
        for index in 0..<count { digests.append(try contexts[index].finish()) }
        return digests
    }

    /// Makes the buffer large enough to take a small file at once, and no larger.
    private mutating func prepareBuffer(for descriptor: Int32, _ size: Int?) throws(DigestError) {
        guard buffer.count < Self.largestBuffer else { return }
        var status = stat()
        if size == nil, fstat(descriptor, &status) != 0 { throw .unreadable(Errno(rawValue: errno)) }
        let wanted = min(max(size ?? status.st_size, Self.smallestBuffer), Self.largestBuffer)
        guard buffer.count < wanted else { return }
        buffer.deallocate()
        buffer = .allocate(byteCount: wanted, alignment: 64)
    }

    private func readBlock(_ descriptor: Int32) throws(DigestError) -> Int {
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw .unreadable(Errno(rawValue: errno)) }
        }
    }
}

import Dispatch
import Synchronization

/// What the threads of `XZBlocks` share.
// @unchecked: `state` is a lock; the rest is immutable, and an input is another one for each block.
final class XZWork: @unchecked Sendable {
    /// What came out of a block.
    // @unchecked: immutable once it is handed over, which the lock of `state` orders.
    final class Content: @unchecked Sendable {
        let bytes: UnsafeMutableRawBufferPointer

        fileprivate init(count: Int) { bytes = .allocate(byteCount: count, alignment: 16) }

        deinit { bytes.deallocate() }
    }

    private struct State {
        /// The next block to be begun, and the first one that is still wanted.
        var next = 0
        var first = 0
        var isCalledOff = false
        var done: [Int: Result<Content, ArchiveError>] = [:]
    }

    private let blocks: [XZBlock]
    private let input: ArchiveInput
    private let ahead: Int
    private let state = Mutex(State())
    /// Signalled when a block is done, and when one more may be begun.
    private let arrived = DispatchSemaphore(value: 0)
    private let room = DispatchSemaphore(value: 0)

    /// `ahead`: how many blocks may be there at once.
    init(_ blocks: [XZBlock], _ input: ArchiveInput, ahead: Int) {
        self.blocks = blocks
        self.input = input
        self.ahead = ahead
    }

    var count: Int { blocks.count }

    /// A thread's work, until there is no more.
    func serve() {
        while true {
            let turn = state.withLock { state -> Int? in
                state.isCalledOff || state.next >= blocks.count ? -1 : begin(&state)
            }
            guard let turn else {
                room.wait()
                continue
            }
            if turn < 0 { return }
            finish(turn)
            arrived.signal()
        }
    }

    /// Waits for a block, and does others meanwhile.
    func content(of index: Int) throws(ArchiveError) -> Content {
        while true {
            let (result, turn) = state.withLock { state in
                let result = state.done.removeValue(forKey: index)
                return (result, result == nil ? begin(&state) : nil)
            }
            if let result { return try result.get() }
            if let turn { finish(turn) } else { arrived.wait() }
        }
    }

    /// Takes the next block; nil where there is no room for it.
    private func begin(_ state: inout State) -> Int? {
        guard !state.isCalledOff, state.next < min(blocks.count, state.first + ahead) else { return nil }
        state.next += 1
        return state.next - 1
    }

    private func finish(_ index: Int) {
        let result: Result<Content, ArchiveError>
        do throws(ArchiveError) { result = .success(try decode(blocks[index])) } catch { result = .failure(error) }
        state.withLock { $0.done[index] = result }
    }

    /// Says that no block before this one is needed any more.
    func release(before index: Int, _ threads: Int) {
        state.withLock { $0.first = index }
        for _ in 0..<threads { room.signal() }
    }

    func callOff(_ threads: Int) {
        state.withLock { $0.isCalledOff = true }
        for _ in 0..<threads { room.signal() }
    }

    private func decode(_ block: XZBlock) throws(ArchiveError) -> Content {
        let part = XZBlockInput(block, of: try input.another()) { [self] in state.withLock { $0.isCalledOff } }
        let decoder = try LibraryDecoder(part, .xz)
        let content = Content(count: Int(block.size))
        var count = 0
        while let piece = try decoder.next() {
            // The index says how much it is, and the library compares that at the end alone.
            guard piece.count <= content.bytes.count - count else { throw .damaged(nil, detail: Self.contradiction) }
            UnsafeMutableRawBufferPointer(rebasing: content.bytes[count...]).copyMemory(from: piece)
            count += piece.count
        }
        guard count == content.bytes.count else { throw .damaged(nil, detail: Self.contradiction) }
        return content
    }

    private static let contradiction = "a block does not have the length that the index says"
}

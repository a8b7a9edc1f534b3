import CISAL

/// Undoes deflate, by ISA-L: more than twice as fast as zlib, and its streams of gzip are checked by their own CRC and
/// length.
final class Inflater {
    /// What is around the stream.
    enum Wrapper {
        /// Nothing: an entry of a zip.
        case none
        /// gzip's header and trailer.
        case gzip
    }

    private let wrapper: Wrapper
    /// Large, and held by its address.
    private let state: UnsafeMutablePointer<inflate_state>
    /// Whether the stream has come to its end, and was found right.
    private(set) var isOver = false

    init(_ wrapper: Wrapper) {
        self.wrapper = wrapper
        state = .allocate(capacity: 1)
        isal_inflate_init(state)
        begin()
    }

    deinit { state.deallocate() }

    /// Ready for another stream; input that was not used up stays.
    func begin() {
        let (rest, count) = (state.pointee.next_in, state.pointee.avail_in)
        isal_inflate_reset(state)
        state.pointee.crc_flag = UInt32(wrapper == .gzip ? ISAL_GZIP : ISAL_DEFLATE)
        state.pointee.next_in = rest
        state.pointee.avail_in = count
        isOver = false
    }

    /// Whether all input was taken.
    var needsInput: Bool { state.pointee.avail_in == 0 }

    /// What was given and not used, once a stream is over: bytes behind its end.
    var unusedCount: Int { Int(state.pointee.avail_in) + Int(state.pointee.read_in_length) / 8 }

    /// Input to go on with, valid until all of it is taken; what was left of the last is dropped.
    func give(_ block: some RandomAccessCollection<UInt8>, at start: UnsafeRawPointer?) {
        // The library only reads there.
        state.pointee.next_in = UnsafeMutableRawPointer(mutating: start)?.assumingMemoryBound(to: UInt8.self)
        state.pointee.avail_in = UInt32(block.count)
    }

    /// What was given and is not taken yet.
    var rest: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: state.pointee.next_in, count: Int(state.pointee.avail_in))
    }

    /// Drops zeros that the input goes on with.
    func dropZeros() {
        while state.pointee.avail_in > 0, let next = state.pointee.next_in, next.pointee == 0 {
            state.pointee.next_in = next + 1
            state.pointee.avail_in -= 1
        }
    }

    /// Writes what comes out to the buffer and returns its length: less than the buffer's where the input is used up or
    /// the stream is over.
    func inflate(into output: UnsafeMutableRawBufferPointer) throws(ArchiveError) -> Int {
        state.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        state.pointee.avail_out = UInt32(output.count)
        let status = isal_inflate(state)
        guard status == ISAL_DECOMP_OK else { throw .damaged(nil, detail: Self.name(of: status)) }
        isOver = state.pointee.block_state == ISAL_BLOCK_FINISH
        return output.count - Int(state.pointee.avail_out)
    }

    private static func name(of status: Int32) -> String {
        switch status {
        case ISAL_INCORRECT_CHECKSUM: "the checksum is wrong"
        case ISAL_INVALID_WRAPPER, ISAL_UNSUPPORTED_METHOD: "the header is not a gzip header"
        default: "the deflate data is invalid (\(status))"
        }
    }
}

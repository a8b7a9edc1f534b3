import CISAL

/// Gzip (RFC 1952): nothing but inflating it tells where it ends. Each member's length and CRC are compared.
enum GzipFile: FormatReader {
    /// The most that is inflated.
    private static let mostOutput: Int64 = 16 << 30

    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        guard try content.has([0x1F, 0x8B, 8], at: 0) else { return nil }
        let state = UnsafeMutablePointer<inflate_state>.allocate(capacity: 1)
        let output = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 256 << 10)
        defer {
            state.deallocate()
            output.deallocate()
        }
        isal_inflate_init(state)
        begin(state)
        var written: Int64 = 0
        var isWithin = true
        var finding: Finding?
        let isOver = try content.stream { piece in
            // The library only reads there.
            state.pointee.next_in = UnsafeMutableRawPointer(mutating: piece.baseAddress)?
                .assumingMemoryBound(to: UInt8.self)
            state.pointee.avail_in = UInt32(piece.count)
            while finding == nil {
                if !isWithin {
                    // Members may follow one another; anything else after one is none of it.
                    guard let next = state.pointee.next_in, state.pointee.avail_in > 0 else { break }
                    guard next.pointee == 0x1F else {
                        finding = .whole
                        break
                    }
                    isWithin = true
                    begin(state)
                }
                state.pointee.next_out = output.baseAddress
                state.pointee.avail_out = UInt32(output.count)
                guard isal_inflate(state) == ISAL_DECOMP_OK else {
                    finding = .lacks(.sense)
                    break
                }
                written += Int64(output.count) - Int64(state.pointee.avail_out)
                if written > mostOutput { finding = .unclear }
                if state.pointee.block_state == ISAL_BLOCK_FINISH {
                    isWithin = false
                }
                // What is left in the output is empty only where there is no more input.
                else if state.pointee.avail_out > 0, state.pointee.avail_in == 0 {
                    break
                }
            }
            return finding != nil
        }
        if isOver == nil { return .unclear }
        return finding ?? (isWithin ? .lacks(.end) : .whole)
    }

    /// Ready for a member; input that was not used up stays.
    private static func begin(_ state: UnsafeMutablePointer<inflate_state>) {
        let (rest, count) = (state.pointee.next_in, state.pointee.avail_in)
        isal_inflate_reset(state)
        state.pointee.crc_flag = UInt32(ISAL_GZIP)
        state.pointee.next_in = rest
        state.pointee.avail_in = count
    }
}

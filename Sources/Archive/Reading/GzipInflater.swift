/// Inflates a gzip file by ISA-L, which checks each member's length and CRC: libarchive reads past both without a look,
/// so that a flipped bit would pass for content.
final class GzipInflater: BlockSource {
    private static let outputSize = 256 << 10

    private let input: ArchiveInput
    private let inflater = Inflater(.gzip)
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: outputSize, alignment: 16)
    private var isFirstMember = true
    private var isWithinMember = false

    init(_ input: ArchiveInput) { self.input = input }

    deinit { output.deallocate() }

    /// The next block, valid until the next call; nil once the last member's end was seen and found right.
    func next() throws(ArchiveError) -> UnsafeRawBufferPointer? {
        var count = 0
        while count < output.count {
            // What there is goes out first: long may be read between members.
            if !isWithinMember, count > 0 { break }
            if inflater.needsInput, try !refill() {
                if isFirstMember || isWithinMember { throw .early() }
                break
            }
            if !isWithinMember, try !beginMember() { break }
            count += try inflater.inflate(into: UnsafeMutableRawBufferPointer(rebasing: output[count...]))
            if inflater.isOver {
                isFirstMember = false
                isWithinMember = false
                inflater.begin()
            }
        }
        return count > 0 ? UnsafeRawBufferPointer(rebasing: output[..<count]) : nil
    }

    /// Members may follow one another, and zeros the last one (tapes are filled up so). Anything else is not gzip any
    /// more.
    private func beginMember() throws(ArchiveError) -> Bool {
        if !isFirstMember {
            inflater.dropZeros()
            while inflater.needsInput {
                if try !refill() { return false }
                inflater.dropZeros()
            }
            let rest = inflater.rest
            guard rest.starts(with: [0x1F, 0x8B].prefix(rest.count)) else {
                throw .trailing(input.size - input.position + Int64(rest.count))
            }
        }
        isWithinMember = true
        return true
    }

    private func refill() throws(ArchiveError) -> Bool {
        guard let block = try input.next() else { return false }
        inflater.give(block, at: block.baseAddress)
        return true
    }
}

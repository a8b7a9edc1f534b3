import CISAL

/// CRC-32 as zip has it.
enum CRC32 {
    /// The checksum of what `sum` is of, with the block behind it.
    static func of(_ block: UnsafeRawBufferPointer, after sum: UInt32) -> UInt32 {
        crc32_gzip_refl(sum, block.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(block.count))
    }
}

import CCrypto
import CISAL
import CXXHash

/// A digest in the making. Can be used for one message after another.
///
/// Each function is computed by the library that is fastest at it here: libcrypto for those that resist forgery (it
/// uses the CPU's SHA instructions), xxHash's own for its functions, ISA-L for the CRCs (it uses carry-less
/// multiplication). What no library has is made here.
package struct DigestContext: ~Copyable {
    private enum State {
        case openssl(OpaquePointer, OpaquePointer)
        case xxh3(OpaquePointer)
        case xxh64(OpaquePointer)
        case xxh32(OpaquePointer)
        case blake2b(Blake2b)
        case blake3(Blake3)
        case crc32(UInt32)
        case crc32c(UInt32)
    }

    package let algorithm: DigestAlgorithm
    private var state: State

    private init(algorithm: DigestAlgorithm, state: State) {
        self.algorithm = algorithm
        self.state = state
    }

    deinit {
        switch state {
        case .openssl(let context, _): EVP_MD_CTX_free(context)
        case .xxh3(let context): XXH3_freeState(context)
        case .xxh64(let context): XXH64_freeState(context)
        case .xxh32(let context): XXH32_freeState(context)
        case .blake2b, .blake3, .crc32, .crc32c: break
        }
    }

    /// A context at the beginning of a message.
    package static func start(_ algorithm: DigestAlgorithm) throws(DigestError) -> DigestContext {
        var started = DigestContext(algorithm: algorithm, state: try state(of: algorithm))
        try started.restart()
        return started
    }

    private static func state(of algorithm: DigestAlgorithm) throws(DigestError) -> State {
        switch algorithm {
        case .crc32: return .crc32(0)
        case .crc32c: return .crc32c(0)
        case .blake3: return .blake3(Blake3())
        case .blake2b(let size) where size != 64: return .blake2b(Blake2b(size: size))
        case .xxh3, .xxh3with64:
            guard let context = XXH3_createState() else { throw .failed(algorithm) }
            return .xxh3(context)
        case .xxh64:
            guard let context = XXH64_createState() else { throw .failed(algorithm) }
            return .xxh64(context)
        case .xxh32:
            guard let context = XXH32_createState() else { throw .failed(algorithm) }
            return .xxh32(context)
        default:
            guard let implementation = algorithm.implementation else { throw .unavailable(algorithm) }
            guard let context = EVP_MD_CTX_new() else { throw .failed(algorithm) }
            return .openssl(context, implementation)
        }
    }

    /// Forgets what was taken in and begins a new message.
    package mutating func restart() throws(DigestError) {
        switch state {
        case .openssl(let context, let implementation):
            guard EVP_DigestInit_ex2(context, implementation, nil) == 1 else { throw .failed(algorithm) }
        case .xxh3(let context):
            // Both of its lengths come of one state.
            guard XXH3_128bits_reset(context) == XXH_OK else { throw .failed(algorithm) }
        case .xxh64(let context): guard XXH64_reset(context, 0) == XXH_OK else { throw .failed(algorithm) }
        case .xxh32(let context): guard XXH32_reset(context, 0) == XXH_OK else { throw .failed(algorithm) }
        case .blake2b: state = .blake2b(Blake2b(size: algorithm.size))
        case .blake3: state = .blake3(Blake3())
        case .crc32: state = .crc32(0)
        // ISA-L leaves the inversions of this one to its callers.
        case .crc32c: state = .crc32c(.max)
        }
    }

    /// Takes in the next bytes of the message.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) throws(DigestError) {
        guard let base = bytes.baseAddress else { return }
        switch state {
        case .openssl(let context, _):
            guard EVP_DigestUpdate(context, base, bytes.count) == 1 else { throw .failed(algorithm) }
        case .xxh3(let context):
            guard XXH3_128bits_update(context, base, bytes.count) == XXH_OK else { throw .failed(algorithm) }
        case .xxh64(let context):
            guard XXH64_update(context, base, bytes.count) == XXH_OK else { throw .failed(algorithm) }
        case .xxh32(let context):
            guard XXH32_update(context, base, bytes.count) == XXH_OK else { throw .failed(algorithm) }
        case .blake2b(var hash):
            // It must not be held twice, or it is copied with each block.
            state = .crc32(0)
            hash.update(bytes)
            state = .blake2b(hash)
        case .blake3(var hash):
            state = .crc32(0)
            hash.update(bytes)
            state = .blake3(hash)
        case .crc32(let value):
            let start = base.assumingMemoryBound(to: UInt8.self)
            state = .crc32(crc32_gzip_refl(value, start, UInt64(bytes.count)))
        case .crc32c(var value):
            // It takes the length as an int, and a pointer that it never writes through.
            var rest = bytes
            while let start = rest.baseAddress, !rest.isEmpty {
                let count = min(rest.count, 1 << 30)
                let block = UnsafeMutableRawPointer(mutating: start).assumingMemoryBound(to: UInt8.self)
                value = crc32_iscsi(block, Int32(count), value)
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
            state = .crc32c(value)
        }
    }

    /// Ends the message. `restart` comes before the next one.
    package func finish() throws(DigestError) -> Digest {
        switch state {
        case .openssl(let context, _):
            var length: UInt32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
                count = EVP_DigestFinal_ex(context, buffer.baseAddress, &length) == 1 ? Int(length) : 0
            }
            guard !bytes.isEmpty else { throw .failed(algorithm) }
            return Digest(algorithm, bytes: bytes)
        case .xxh3(let context) where algorithm == .xxh3with64:
            return Digest(algorithm, bytes: Self.bigEndian(XXH3_64bits_digest(context)))
        case .xxh64(let context): return Digest(algorithm, bytes: Self.bigEndian(XXH64_digest(context)))
        case .xxh32(let context): return Digest(algorithm, bytes: Self.bigEndian(XXH32_digest(context)))
        case .blake2b(let hash): return Digest(algorithm, bytes: hash.finish())
        case .blake3(let hash): return Digest(algorithm, bytes: hash.finish())
        case .xxh3(let context):
            let hash = XXH3_128bits_digest(context)
            return Digest(algorithm, bytes: Self.bigEndian(hash.high64) + Self.bigEndian(hash.low64))
        case .crc32(let value): return Digest(algorithm, bytes: Self.bigEndian(value))
        case .crc32c(let value): return Digest(algorithm, bytes: Self.bigEndian(~value))
        }
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}

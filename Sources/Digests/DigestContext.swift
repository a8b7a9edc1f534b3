import CCrypto
import CISAL
import CXXHash

/// A digest in the making. Can be used for one message after another.
///
/// Each function is computed by the library that is fastest at it here: libcrypto for those that resist forgery (it
/// uses the CPU's SHA instructions), xxHash's own for XXH3, ISA-L for the CRCs (it uses carry-less multiplication).
package struct DigestContext: ~Copyable {
    private enum State {
        case openssl(OpaquePointer, OpaquePointer)
        case xxhash(OpaquePointer)
        case crc32(UInt32)
        case crc32c(UInt32)
    }

    /// Which function.
    package let algorithm: DigestAlgorithm
    private var state: State

    private init(algorithm: DigestAlgorithm, state: State) {
        self.algorithm = algorithm
        self.state = state
    }

    deinit {
        switch state {
        case .openssl(let context, _): EVP_MD_CTX_free(context)
        case .xxhash(let context): XXH3_freeState(context)
        case .crc32, .crc32c: break
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
        case .xxh3:
            guard let context = XXH3_createState() else { throw .failed(algorithm) }
            return .xxhash(context)
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
        case .xxhash(let context):
            guard XXH3_128bits_reset(context) == XXH_OK else { throw .failed(algorithm) }
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
        case .xxhash(let context):
            guard XXH3_128bits_update(context, base, bytes.count) == XXH_OK else { throw .failed(algorithm) }
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
        case .xxhash(let context):
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

import CCrypto

/// A hash function, by the name that pipeline files use for it.
package enum DigestAlgorithm: String, Sendable, CaseIterable {
    case sha256, sha512, sha384, sha1, md5, blake2b
    case sha3with256 = "sha3-256"
    case sha3with512 = "sha3-512"
    /// XXH3 with 128 bits: no protection against intent, but several times as fast as any that is.
    case xxh3 = "xxh3-128"
    /// The CRC of iSCSI, ext4 and cloud stores (RFC 3720, appendix B.4).
    case crc32c
    /// The CRC of zip, gzip and SFV lists (RFC 1952, section 8).
    case crc32

    /// The name in BSD's form of a checksum line, as GNU's and xxHash's tools write it: `SHA256 (name) = …`.
    package var tag: String {
        switch self {
        case .blake2b: "BLAKE2b"
        case .xxh3: "XXH128"
        default: rawValue.uppercased()
        }
    }

    /// The usual name of a list of such digests.
    package var listName: String {
        switch self {
        case .blake2b: "B2SUMS"
        case .xxh3: "XXH128SUMS"
        default: "\(rawValue.uppercased())SUMS"
        }
    }

    /// How many bytes a digest has.
    package var size: Int {
        switch self {
        case .crc32, .crc32c: 4
        case .md5, .xxh3: 16
        case .sha1: 20
        case .sha256, .sha3with256: 32
        case .sha384: 48
        case .sha512, .sha3with512, .blake2b: 64
        }
    }

    /// The name that OpenSSL knows it by (EVP_MD_fetch(3)); nil for what is none of OpenSSL's.
    private var opensslName: String? {
        switch self {
        case .sha256: "SHA2-256"
        case .sha512: "SHA2-512"
        case .sha384: "SHA2-384"
        case .sha1: "SHA1"
        case .md5: "MD5"
        case .blake2b: "BLAKE2B-512"
        case .sha3with256: "SHA3-256"
        case .sha3with512: "SHA3-512"
        case .xxh3, .crc32c, .crc32: nil
        }
    }

    /// OpenSSL's implementation, looked up once per process: the look-up costs more than hashing a small file. Nil
    /// where this machine's OpenSSL does not offer it (MD5 under a FIPS policy).
    var implementation: OpaquePointer? { Self.implementations[self]?.method }

    private static let implementations: [DigestAlgorithm: Implementation] = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { algorithm in
            algorithm.opensslName.map { (algorithm, Implementation(method: EVP_MD_fetch(nil, $0, nil))) }
        })

    /// An EVP_MD.
    // @unchecked: immutable once fetched, so threads share it without a lock.
    private struct Implementation: @unchecked Sendable {
        let method: OpaquePointer?
    }
}

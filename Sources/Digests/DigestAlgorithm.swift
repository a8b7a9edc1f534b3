import CCrypto

/// A hash function, by the name that pipeline files use for it.
package enum DigestAlgorithm: Sendable, Hashable {
    case sha256, sha512, sha384, sha224, sha1, md5
    case sha3with224, sha3with256, sha3with384, sha3with512
    /// BLAKE2b with so many bytes; each length is a function of its own.
    case blake2b(size: Int)
    case blake3
    /// XXH3 with 128 bits: no protection against intent, but several times as fast as any that is.
    case xxh3
    /// xxHash's others.
    case xxh3with64, xxh64, xxh32
    /// The CRC of iSCSI, ext4 and cloud stores (RFC 3720, appendix B.4).
    case crc32c
    /// The CRC of zip, gzip and SFV lists (RFC 1952, section 8).
    case crc32

    /// BLAKE2b as it is where nobody names a length.
    package static let blake2b = blake2b(size: 64)

    /// How many there are.
    package static let count = allCases.count - 1 + 64

    private struct Facts {
        let name: String
        /// How many bytes a digest has.
        let size: Int
        /// The name in BSD's form of a line, where it is not `name` in capitals.
        var tag: String?
        /// The beginning of a list's name, where it is not `name` in capitals.
        var list: String?
        /// The name that OpenSSL knows it by (EVP_MD_fetch(3)); nil for what is none of OpenSSL's.
        var openssl: String?
    }

    private var facts: Facts {
        switch self {
        case .sha256: Facts(name: "sha256", size: 32, openssl: "SHA2-256")
        case .sha512: Facts(name: "sha512", size: 64, openssl: "SHA2-512")
        case .sha384: Facts(name: "sha384", size: 48, openssl: "SHA2-384")
        case .sha224: Facts(name: "sha224", size: 28, openssl: "SHA2-224")
        case .sha1: Facts(name: "sha1", size: 20, openssl: "SHA1")
        case .md5: Facts(name: "md5", size: 16, openssl: "MD5")
        case .sha3with224: Facts(name: "sha3-224", size: 28, openssl: "SHA3-224")
        case .sha3with256: Facts(name: "sha3-256", size: 32, openssl: "SHA3-256")
        case .sha3with384: Facts(name: "sha3-384", size: 48, openssl: "SHA3-384")
        case .sha3with512: Facts(name: "sha3-512", size: 64, openssl: "SHA3-512")
        case .blake2b(64): Facts(name: "blake2b", size: 64, tag: "BLAKE2b", list: "B2", openssl: "BLAKE2B-512")
        case .blake2b(let size):
            Facts(name: "blake2b-\(size * 8)", size: size, tag: "BLAKE2b-\(size * 8)", list: "B2")
        case .blake3: Facts(name: "blake3", size: 32, list: "B3")
        case .xxh3: Facts(name: "xxh3-128", size: 16, tag: "XXH128", list: "XXH128")
        case .xxh3with64: Facts(name: "xxh3-64", size: 8, tag: "XXH3", list: "XXH3")
        case .xxh64: Facts(name: "xxh64", size: 8)
        case .xxh32: Facts(name: "xxh32", size: 4)
        case .crc32c: Facts(name: "crc32c", size: 4)
        case .crc32: Facts(name: "crc32", size: 4)
        }
    }

    /// How many bytes a digest has.
    package var size: Int { facts.size }

    /// The name in BSD's form of a checksum line, as GNU's and xxHash's tools write it: `SHA256 (name) = …`.
    package var tag: String { facts.tag ?? facts.name.uppercased() }

    /// The usual name of a list of such digests.
    package var listName: String { "\(facts.list ?? facts.name.uppercased())SUMS" }

    /// What stands before it in GNU's form of a line, since without it nothing tells it from another of its length.
    package var prefix: String { self == .xxh3with64 ? "XXH3_" : "" }

    /// Whether it is one of xxHash's, whose lists are called alike.
    var isXXHash: Bool { [.xxh3, .xxh3with64, .xxh64, .xxh32].contains(self) }

    /// OpenSSL's implementation, looked up once per process: the look-up costs more than hashing a small file. Nil
    /// where this machine's OpenSSL does not offer it (MD5 under a FIPS policy).
    var implementation: OpaquePointer? { Self.implementations[self]?.method }

    private static let implementations: [DigestAlgorithm: Implementation] = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { algorithm in
            algorithm.facts.openssl.map { (algorithm, Implementation(method: EVP_MD_fetch(nil, $0, nil))) }
        })

    /// An EVP_MD.
    // @unchecked: immutable once fetched, so threads share it without a lock.
    private struct Implementation: @unchecked Sendable {
        let method: OpaquePointer?
    }
}

extension DigestAlgorithm: RawRepresentable, CaseIterable {
    /// Each, but of BLAKE2b the longest alone.
    package static let allCases: [DigestAlgorithm] = [
        .sha256, .sha512, .sha384, .sha224, .sha1, .md5, .blake2b, .blake3, .sha3with224, .sha3with256, .sha3with384,
        .sha3with512, .xxh3, .xxh3with64, .xxh64, .xxh32, .crc32c, .crc32,
    ]

    private static let named = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// The one that pipeline files call so.
    package init?(rawValue: String) {
        guard let algorithm = Self.named[rawValue] ?? Self.shortened(rawValue) else { return nil }
        self = algorithm
    }

    package var rawValue: String { facts.name }

    /// `blake2b-256`: BLAKE2b with so many bits.
    private static func shortened(_ name: String) -> DigestAlgorithm? {
        guard name.hasPrefix("blake2b-"), let bits = Int(name.dropFirst(8)), bits % 8 == 0, 8...512 ~= bits else {
            return nil
        }
        return .blake2b(size: bits / 8)
    }

    /// The one that a line, a name or a program means by a word: `SHA2-256`, `SHA3_256`, `sha3256`, `BLAKE2b-256`,
    /// `XXH128`.
    package init?(spelled word: some StringProtocol) {
        let lower = word.lowercased()
        let plain = String((lower.hasPrefix("sha2-") ? "sha" + lower.dropFirst(5) : lower).filter(\.isAlphanumeric))
        if let known = Self.spellings[plain] {
            self = known
        } else if plain.hasPrefix("blake2b"), let short = Self.shortened("blake2b-\(plain.dropFirst(7))") {
            self = short
        } else {
            return nil
        }
    }

    private static let spellings: [String: DigestAlgorithm] = Dictionary(
        allCases.flatMap { algorithm in
            [algorithm.rawValue, algorithm.tag].map { ($0.lowercased().filter(\.isAlphanumeric), algorithm) }
        }
    ) { first, _ in first }
}

extension Character {
    fileprivate var isAlphanumeric: Bool { isASCII && (isLetter || isNumber) }
}

import CCrypto

/// A hash function, by the name that pipeline files and GNU's tools use for it.
package enum DigestAlgorithm: String, Sendable, CaseIterable {
    case sha256, sha512, sha384, sha1, md5

    /// The name that OpenSSL knows it by (EVP_MD_fetch(3)).
    private var opensslName: String {
        switch self {
        case .sha256: "SHA2-256"
        case .sha512: "SHA2-512"
        case .sha384: "SHA2-384"
        case .sha1: "SHA1"
        case .md5: "MD5"
        }
    }

    /// OpenSSL's implementation, looked up once per process: the look-up costs more than hashing a small file. Nil
    /// where this machine's OpenSSL does not offer it (MD5 under a FIPS policy).
    var implementation: OpaquePointer? { Self.implementations[self]?.method }

    private static let implementations: [DigestAlgorithm: Implementation] = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0, Implementation(method: EVP_MD_fetch(nil, $0.opensslName, nil))) })

    /// An EVP_MD. It is never changed once fetched, so threads share it without a lock.
    private struct Implementation: @unchecked Sendable {
        let method: OpaquePointer?
    }
}

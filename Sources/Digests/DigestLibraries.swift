import CCrypto
import CXXHash

/// What computes digests, for people.
package enum DigestLibraries {
    /// `OpenSSL 3.0.17`, `xxHash 0.8.1`: of the libraries that this process runs with.
    package static var versions: [String] {
        // `OpenSSL 3.0.17 1 Jul 2025`
        let openSSL = OpenSSL_version(OPENSSL_VERSION).map { text in
            String(cString: text).split(separator: " ").prefix(2).joined(separator: " ")
        }
        let number = XXH_versionNumber()
        return [openSSL, "xxHash \(number / 10_000).\(number / 100 % 100).\(number % 100)"].compactMap(\.self)
    }
}

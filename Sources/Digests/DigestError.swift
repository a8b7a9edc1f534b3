package import SystemPackage

/// Why a digest could not be made.
package enum DigestError: Error, Sendable, Equatable {
    /// This machine's OpenSSL does not offer the algorithm.
    case unavailable(DigestAlgorithm)
    /// The library refused to go on; it has no reason to but a lack of memory.
    case failed(DigestAlgorithm)
    /// The file could not be read.
    case unreadable(Errno)
    /// The caller asked to stop.
    case stopped
}

extension DigestError: CustomStringConvertible {
    /// A sentence without a final stop.
    package var description: String {
        switch self {
        case .unavailable(let algorithm):
            "this machine's OpenSSL does not offer \(algorithm.rawValue); choose another, or allow it in openssl.cnf"
        case .failed(let algorithm): "\(algorithm.rawValue) failed; the process may be out of memory"
        case .unreadable(let errno): "cannot read: \(errno)"
        case .stopped: "cancelled"
        }
    }
}

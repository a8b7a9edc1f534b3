import Files
import Glibc

/// A process that writes to a shared journal. Another start of the same node is another one.
package struct Incarnation: Sendable, Hashable {
    /// A random word that nobody else has.
    package let id: String
    /// What people call the node.
    package let node: String
    package let host: String
    package let version: String
    /// For how long it is alive without a word from it.
    package let lease: Duration

    package static let usualLease = Duration.seconds(30)

    package init(
        of node: String, on host: String = Self.hostName, version: String, lease: Duration = usualLease
    ) {
        let parts = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        id = parts.joined()
        self.node = node
        self.host = host
        self.version = version
        self.lease = lease
    }

    /// As an `interval`.
    var leaseText: String { "\(lease.nanoseconds / 1000) microseconds" }

    /// What this machine is called.
    package static var hostName: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "" }
        return withUnsafeBytes(of: name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

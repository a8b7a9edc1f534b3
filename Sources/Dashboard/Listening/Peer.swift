import Glibc
import NIOCore
import PipelineKit

/// Who is at the other end of a connection.
struct Peer: Sendable, Equatable {
    /// An address in numbers; nil on a Unix socket.
    var address: String?
    /// The user by the kernel's word, on a Unix socket.
    var user: String?

    /// What the kernel says of a Unix socket (unix(7), SO_PEERCRED).
    private struct Credentials {
        var process: Int32 = 0
        var user: UInt32 = 0
        var group: UInt32 = 0
    }

    static func of(_ channel: any Channel) async -> Peer {
        if let address = channel.remoteAddress?.ipAddress { return Peer(address: address) }
        guard let options = channel as? any SocketOptionProvider else { return Peer() }
        // Without an answer nobody is named, which takes no right away.
        let credentials = try? await options.unsafeGetSocketOption(
            level: .init(rawValue: SOL_SOCKET), name: .init(rawValue: SO_PEERCRED)
        ).map { (found: Credentials) in found.user
        }.get()
        return Peer(user: credentials.map { AccountName.user($0) })
    }
}

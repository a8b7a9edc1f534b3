import Files
import Glibc
package import SystemPackage

/// Where the pages are to be had.
package enum ListenAddress: Sendable, Equatable, CustomStringConvertible {
    case unix(FilePath)
    /// An address in numbers, without brackets.
    case ip(String, port: UInt16)

    /// `127.0.0.1:8866`, `[::1]:8866`, `localhost:8866`, `/run/web.sock`, `unix:web.sock`; nil for other texts.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") || text.hasPrefix("/") {
            let path = FilePath(text.hasPrefix("/") ? text : String(text.dropFirst(5)))
            guard path.lastComponent != nil else { return nil }
            self = .unix(path)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host == "localhost" { host = "127.0.0.1" }
        guard Self.family(of: host) != nil else { return nil }
        self = .ip(host, port: port)
    }

    /// Whether only this machine can reach it.
    package var isLocal: Bool {
        switch self {
        case .unix: true
        case .ip(let host, _): host == "::1" || host.hasPrefix("127.")
        }
    }

    /// Whether it stands for all addresses of this machine.
    var isWildcard: Bool {
        guard case .ip(let host, _) = self else { return false }
        var address = in6_addr()
        guard let family = Self.family(of: host), inet_pton(family, host, &address) == 1 else { return false }
        return withUnsafeBytes(of: address) { $0.allSatisfy { $0 == 0 } }
    }

    /// What a browser calls it.
    package var authority: String? {
        guard case .ip(let host, let port) = self else { return nil }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Where a browser finds it by a name, or by its address; nil on a Unix socket.
    package func origin(name: String? = nil, isTLS: Bool = false) -> String? {
        guard case .ip(_, let port) = self, let authority else { return nil }
        let named = name.map { isTLS && port == 443 ? $0 : "\($0):\(port)" }
        return (isTLS ? "https://" : "http://") + (named ?? authority)
    }

    package var isUnix: Bool { authority == nil }

    /// Whether a text is an address in numbers.
    package static func isAddress(_ text: String) -> Bool { family(of: text) != nil }

    package var description: String {
        switch self {
        case .unix(let path): "unix:\(path.text)"
        case .ip: authority ?? ""
        }
    }

    /// AF_INET or AF_INET6; nil where it is no address.
    static func family(of host: String) -> Int32? {
        var address = in6_addr()
        for family in [AF_INET, AF_INET6] where inet_pton(family, host, &address) == 1 { return family }
        return nil
    }
}

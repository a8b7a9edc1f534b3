import Files
import HTTPTypes

/// Which requests come from our own pages, or from a program that has a token: a page elsewhere can make a browser send
/// others, with all that the browser knows. Pure.
struct OriginRules: Sendable, Equatable {
    /// What the server may be called, besides its address and localhost: names without a port, in lower case.
    var hosts: Set<String> = []
    /// The address that it listens at; nil on a Unix socket.
    var address: String?
    /// Whether it speaks TLS itself: its pages are https then, and no others.
    var isTLS = false

    /// Whether a Host header names this server. A name that leads here without being ours is how a page elsewhere
    /// becomes "the same origin".
    func isOurs(host: String) -> Bool {
        let host = host.lowercased()
        guard let name = Self.name(of: host) else { return false }
        // Browsers leave out the port where it is the usual one.
        if let address, name == Self.name(of: address.lowercased()) { return true }
        return ["localhost", "127.0.0.1", "[::1]"].contains(name) || hosts.contains(name)
    }

    /// The name without its port; nil where it is malformed.
    private static func name(of host: String) -> String? {
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            let rest = host[host.index(after: end)...]
            guard rest.isEmpty || isPort(rest) else { return nil }
            return String(host[...end])
        }
        guard let colon = host.firstIndex(of: ":") else { return host.isEmpty ? nil : host }
        guard isPort(host[colon...]) else { return nil }
        return String(host[..<colon])
    }

    private static func isPort(_ text: Substring) -> Bool { text.first == ":" && UInt16(text.dropFirst()) != nil }

    /// Why a request may not be served; nil where it may. `isUnsafe`: whether it may change something.
    func refusal(of fields: HTTPFields, host: String, isUnsafe: Bool, hasBearer: Bool) -> Problem? {
        guard isOurs(host: host) else {
            return Problem(
                .init(code: 421, reasonPhrase: "Misdirected Request"), "host.unknown",
                "this server is not called '\(EscapedText.of(host))'", subject: "Host",
                remedy: "Use its address, or start it with --host \(EscapedText.of(host)).")
        }
        if hasBearer { return nil }
        let site = fields[.secFetchSite]
        guard isUnsafe else {
            // What a page elsewhere includes or fetches; a person who follows a link is welcome.
            guard let site, site != "same-origin", site != "none", fields[.secFetchMode] != "navigate" else {
                return nil
            }
            return Self.foreign
        }
        if let site { return site == "same-origin" ? nil : Self.foreign }
        guard let origin = fields[.origin] else {
            return Problem(
                .forbidden, "origin.missing", "nothing says which page this request comes from", subject: "Origin",
                remedy: "A program gives a token as 'Authorization: Bearer', or 'Origin: "
                    + "\(isTLS ? "https" : "http")://\(EscapedText.of(host))'.")
        }
        // Whether a proxy speaks TLS before it is not always said.
        let schemes = isTLS ? ["https://"] : ["http://", "https://"]
        return schemes.contains { origin.lowercased() == $0 + host.lowercased() } ? nil : Self.foreign
    }

    private static let foreign = Problem(
        .forbidden, "origin.foreign", "this request comes from a page of another origin", subject: "Origin",
        remedy: "Open the page of this server, and do it there.")
}

extension HTTPField.Name {
    static let secFetchSite = fixed("Sec-Fetch-Site")
    static let secFetchMode = fixed("Sec-Fetch-Mode")
    static let reprDigest = fixed("Repr-Digest")
    static let lastEventID = fixed("Last-Event-ID")

    /// Of a name that is one.
    private static func fixed(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .origin }
}

import HTTPTypes

/// Which proxies are believed, and in what: who somebody is, and where a request comes from. Pure.
struct ProxyTrust: Sendable, Equatable {
    /// The header in which it says who signed in with it; nil: none is believed.
    var header: String?
    /// The addresses of proxies. The Unix socket is one, where a header is named: who can open it is trusted.
    var addresses: Set<String> = []

    private func isProxy(_ peer: String?) -> Bool { peer.map { addresses.contains($0) } ?? (header != nil) }

    /// Where a request comes from, for the record: what a proxy says, if one is believed.
    func address(of fields: HTTPFields, peer: String?) -> String {
        let own = peer ?? "unix"
        guard isProxy(peer), let name = HTTPField.Name("X-Forwarded-For"), let said = fields[name] else { return own }
        // The last one is what the proxy itself has seen.
        let last = said.split(separator: ",").last?.split(separator: " ").first.map(String.init)
        return last.flatMap { ListenAddress.family(of: $0) == nil ? nil : $0 } ?? own
    }

    /// Whom a proxy says that it is.
    func caller(_ fields: HTTPFields, peer: String?, address: String) -> Caller? {
        guard let header, isProxy(peer), let name = HTTPField.Name(header) else { return nil }
        // Where there are two, one is the visitor's own.
        let said = fields[values: name]
        guard said.count == 1, let user = said.first, !user.isEmpty, user.utf8.count <= 64 else { return nil }
        return Caller(name: user, role: .operate, way: .proxy, address: address)
    }
}

/// At which addresses the pages may be served, by how they are kept from being read on their way. Pure.
package struct ListenRules: Sendable, Equatable {
    /// Whether TLS is spoken here, and whether a proxy ends it before us.
    package var isTLS: Bool
    package var isBehindProxy: Bool
    /// Whether the server has a name besides its address.
    package var isNamed: Bool

    package init(isTLS: Bool = false, isBehindProxy: Bool = false, isNamed: Bool = false) {
        (self.isTLS, self.isBehindProxy, self.isNamed) = (isTLS, isBehindProxy, isNamed)
    }

    /// Why they may not be served there; nil where they may.
    package func refusal(at address: ListenAddress) -> ListenError? {
        if isTLS, address.isUnix {
            return ListenError(
                "'\(address)' is a Unix socket, which needs no TLS; name an address with its port, such as "
                    + "0.0.0.0:8866, or leave --tls-certificate and --tls-key out")
        }
        guard address.isLocal || isTLS || isBehindProxy else {
            return ListenError(
                "'\(address)' can be reached from elsewhere, where tokens could be read on their way; listen at "
                    + "127.0.0.1, give it a certificate (--tls-certificate FILE --tls-key FILE), or put a reverse "
                    + "proxy with TLS before it and name that: --tls-behind-proxy HOST")
        }
        if address.isWildcard, isTLS, !isNamed, !isBehindProxy {
            return ListenError(
                "'\(address)' is all addresses of this machine, and nobody calls it so; say what it is called: "
                    + "--host NAME")
        }
        return nil
    }
}

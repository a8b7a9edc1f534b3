import NIOCore
package import SystemPackage

/// How the page is served.
package struct DashboardConfiguration: Sendable {
    /// The daemon's state folder, in which its socket is.
    package var daemon: FilePath
    /// Where it listens, unless systemd hands a socket over.
    package var address: ListenAddress
    /// Where the tokens are kept that were given out.
    package var tokens: TokenFile
    /// One besides, which was named at the start.
    package var named: Token?
    /// What the server may be called, besides its address.
    package var hosts: Set<String> = []
    /// The header in which a proxy says who somebody is, and the addresses of such proxies.
    package var trustedHeader: String?
    package var proxies: Set<String> = []
    /// How its pages are kept from being read on their way.
    package var rules = ListenRules()
    /// What it speaks TLS with; nil where it does not.
    package var certificate: CertificateKeeper?
    /// Whether everybody may have the figures and the state of health.
    package var isPublic = false
    package var version: String
    /// Whether browsers reach it by TLS only.
    var isSecure: Bool { rules.isTLS || rules.isBehindProxy }
    /// What a request's head may be, and how long a connection may do nothing.
    var head = HeadGuard.Limits()
    var idle = TimeAmount.seconds(60)

    package init(daemon: FilePath, address: ListenAddress, tokens: TokenFile, version: String) {
        self.daemon = daemon
        self.address = address
        self.tokens = tokens
        self.version = version
    }
}

package import Logging
import NIOCore
import NIOPosix

/// The page and the API: a server that asks the daemon, and has nothing else.
package struct DashboardServer: Sendable {
    private let configuration: DashboardConfiguration
    private let log: Logger

    package init(_ configuration: DashboardConfiguration, log: Logger) {
        (self.configuration, self.log) = (configuration, log)
    }

    /// Serves until the task is cancelled; `isReady` is called with the address once connections are taken.
    package func run(
        environment: [String: String], isReady: @Sendable (ListenAddress) -> Void
    ) async throws {
        let inherited = try ListeningSocket.inherited(environment)
        let socket: ListeningSocket
        if let inherited { socket = inherited } else { socket = try ListeningSocket.make(at: configuration.address) }
        // The socket unit may name another address than the command line.
        if let refusal = configuration.rules.refusal(at: socket.address) {
            throw ListenError("\(refusal) (systemd hands it over: 'ListenStream=' names it)")
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let site = site(at: socket.address)
        let responder = SiteResponder(table: RouteTable(), site: site, log: log)
        let connection = Connection(
            { request, writer, channel in
                let peer = await Peer.of(channel)
                let request = RequestBodies.asking(request, on: channel)
                var response = await responder.respond(to: request, peer: peer.address, user: peer.user)
                let isLeft = RequestBodies.isLeft(of: request, after: response)
                if isLeft { response.headers[.connection] = "close" }
                try await writer.write(response: response.head, body: response.body)
                if isLeft { try await RequestBodies.leave(channel) }
            }, limits: configuration.head, idle: configuration.idle, certificate: configuration.certificate)
        let watch = configuration.certificate?.watch()
        defer { watch?.cancel() }
        isReady(socket.address)
        do {
            try await Listener(connection: connection, proxies: configuration.proxies, log: log)
                .run(on: socket.descriptor, group: group)
        } catch {
            await site.events.stop()
            socket.remove()
            try await group.shutdownGracefully()
            throw error
        }
        await site.events.stop()
        socket.remove()
        try await group.shutdownGracefully()
    }

    private func site(at address: ListenAddress) -> Site {
        let daemon = DaemonLink(to: configuration.daemon)
        let rules = OriginRules(
            hosts: configuration.hosts, address: address.authority, isTLS: configuration.rules.isTLS)
        let isUnix = address.authority == nil
        let gatekeeper = Gatekeeper(
            rules, TokenList(configuration.tokens, named: configuration.named.map { [$0] } ?? []),
            // Whoever a proxy names is somebody; whoever it does not name is nobody.
            isOpen: isUnix && configuration.trustedHeader == nil,
            proxy: ProxyTrust(header: configuration.trustedHeader, addresses: configuration.proxies),
            isSecure: configuration.isSecure)
        return Site(
            daemon: daemon, events: EventHub(daemon), gatekeeper: gatekeeper, isPublic: configuration.isPublic,
            version: configuration.version, isSecure: configuration.isSecure)
    }
}

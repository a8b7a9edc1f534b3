import Files
import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import NIOPosix
import NIOSSL
import PipelineKit

/// One connection: what guards it, and who is at the other end.
struct Connection: HTTPChannelHandler {
    typealias Value = HTTP1Channel.Value

    let responder: HTTPChannelHandler.Responder
    private let http: HTTP1Channel
    private let limits: HeadGuard.Limits
    private let idle: TimeAmount
    private let certificate: CertificateKeeper?

    /// `idle`: how long nothing may happen between two requests, or within a body, and how long nothing may be taken.
    /// `certificate`: for TLS; nil where none is spoken.
    init(
        _ responder: @escaping HTTPChannelHandler.Responder, limits: HeadGuard.Limits, idle: TimeAmount,
        certificate: CertificateKeeper? = nil
    ) {
        self.responder = responder
        (self.limits, self.idle, self.certificate) = (limits, idle, certificate)
        http = HTTP1Channel(
            responder: responder,
            configuration: .init(
                idleTimeout: idle,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: limits.bytes, maxHeaderListSize: limits.bytes, maxHeaderFieldCount: 200)))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        setup(channel: channel, logger: logger) { @Sendable _ in }
    }

    /// `isBusy`: told when requests are under way, and when none is any more.
    func setup(
        channel: any Channel, logger: Logger, isBusy: @escaping @Sendable (Bool) -> Void
    ) -> EventLoopFuture<Value> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { [limits, idle, certificate] value in
            let guardian = HeadGuard(limits)
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(guardian, position: .first)
            if let certificate {
                try pipeline.addHandler(HandshakeDeadline(limits.time), position: .first)
                try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context), position: .first)
            }
            try pipeline.addHandler(WriteDeadline(idle), position: .first)
            let state = try pipeline.handler(type: HTTPConnectionStateHandler.self)
            try pipeline.addHandlers(
                ParserRefusal(guardian), Occupancy(isBusy), RequestEnd(guardian), position: .before(state))
            return value
        }
    }

    func handle(value: Value, logger: Logger) async { await handleHTTP(asyncChannel: value, logger: logger) }
}

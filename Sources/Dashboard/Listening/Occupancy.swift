import NIOCore
import NIOHTTPTypes

/// Tells whether requests of a connection are under way, or it waits for one.
final class Occupancy: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let isBusy: (Bool) -> Void
    private var unanswered = 0
    /// Whether the request that comes in is one to sign in. Anybody may send that, and take long over its body: until
    /// that is there the connection counts as one that waits.
    private var isSigningIn = false

    init(_ isBusy: @escaping (Bool) -> Void) { self.isBusy = isBusy }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            unanswered += 1
            isSigningIn = head.method == .post && (head.path ?? "").prefix { $0 != "?" }.hasSuffix("/login")
            if unanswered == 1, !isSigningIn { isBusy(true) }
        case .body: break
        case .end:
            if unanswered == 1, isSigningIn { isBusy(true) }
            isSigningIn = false
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data), unanswered > 0 {
            unanswered -= 1
            if unanswered == 0 { isBusy(false) }
        }
        context.write(data, promise: promise)
    }
}

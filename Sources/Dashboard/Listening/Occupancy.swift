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
    private var wasBusy = false
    /// Whether the request that comes in is one to sign in. Anybody may send that, and take long over its body: until
    /// that is there it does not count.
    private var isSigningIn = false

    init(_ isBusy: @escaping (Bool) -> Void) { self.isBusy = isBusy }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            unanswered += 1
            isSigningIn = head.method == .post && (head.path ?? "").prefix { $0 != "?" }.hasSuffix("/login")
        case .body: break
        case .end: isSigningIn = false
        }
        tell()
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data), unanswered > 0 {
            unanswered -= 1
            tell()
        }
        context.write(data, promise: promise)
    }

    private func tell() {
        let isBusyNow = unanswered > (isSigningIn ? 1 : 0)
        if isBusyNow != wasBusy { isBusy(isBusyNow) }
        wasBusy = isBusyNow
    }
}

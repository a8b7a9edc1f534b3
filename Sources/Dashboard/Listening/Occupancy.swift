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

    init(_ isBusy: @escaping (Bool) -> Void) { self.isBusy = isBusy }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) {
            unanswered += 1
            if unanswered == 1 { isBusy(true) }
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

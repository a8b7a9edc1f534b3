import NIOCore

/// Has a connection handled once it is active, or has ended before. Earlier NIO cannot close one half of it, and it
/// ends the process where one is let go that nobody has handled.
final class Beginning: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private var handle: (() -> Void)?

    init(_ handle: @escaping () -> Void) { self.handle = handle }

    func channelActive(context: ChannelHandlerContext) {
        begin()
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { begin() }

    func begin() {
        let handle = handle
        self.handle = nil
        handle?()
    }
}

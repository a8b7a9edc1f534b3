import NIOCore

/// Closes a connection whose other end takes nothing of what is written for so long: what waits for it is kept in
/// memory.
final class WriteDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let time: TimeAmount
    private var alarm: Scheduled<Void>?

    init(_ time: TimeAmount) { self.time = time }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        alarm?.cancel()
        alarm = nil
        if !context.channel.isWritable { arm(context.channel) }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        alarm?.cancel()
        context.fireChannelInactive()
    }

    /// One that takes little by little is slow, and stays.
    private func arm(_ channel: any Channel) {
        let waiting = Self.waiting(channel)
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        alarm = channel.eventLoop.scheduleTask(in: time) {
            if Self.waiting(channel) < waiting { bound.value.arm(channel) } else { channel.close(promise: nil) }
        }
    }

    private static func waiting(_ channel: any Channel) -> Int {
        (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}

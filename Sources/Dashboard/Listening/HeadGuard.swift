import NIOCore
import NIOHTTPTypes

/// Lets nothing but whole heads of HTTP/1.1 come to the parser: of a size, and within a time, and behind each just the
/// body that it says. It stands before the parser, and learns from `RequestEnd`, which stands behind it, what the
/// parser makes of a head, and when the next one may begin.
final class HeadGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    struct Limits: Sendable, Equatable {
        var bytes = 16 << 10
        var time = TimeAmount.seconds(10)
        /// How long one that was refused may go on sending, which is dropped: a reset would take the answer along.
        var lingering = TimeAmount.seconds(1)
    }

    private enum State {
        case head(HeadScan, ByteBuffer)
        /// The parser has a head, and has not said yet what it is, or that its request is whole.
        case asking
        /// So many bytes of a body are still to come.
        case body(Int)
        /// Nothing more is taken: a body of unknown length, or what was refused.
        case dropping
    }

    private static let mostHeld = 1 << 20

    private let limits: Limits
    private var state = State.head(HeadScan(), ByteBuffer())
    /// What has come and is not looked at yet.
    private var held = ByteBuffer()
    private var isWorking = false
    private var alarm: Scheduled<Void>?
    private var context: ChannelHandlerContext?

    init(_ limits: Limits) { self.limits = limits }

    func channelInactive(context: ChannelHandlerContext) {
        alarm?.cancel()
        context.fireChannelInactive()
    }

    /// What the parser has found in a head. `bodyLength`: nil where it does not say, and nobody takes that.
    func begin(bodyLength: Int?) {
        guard case .asking = state else { return }
        state = bodyLength.map { $0 > 0 ? .body($0) : .asking } ?? .dropping
        goOn()
    }

    /// A request has come whole.
    func expectHead() {
        guard case .asking = state else { return }
        state = .head(HeadScan(), ByteBuffer())
        goOn()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        // Without a copy where nothing waits, as in a body.
        if held.readableBytes == 0 { held = bytes } else { held.writeImmutableBuffer(bytes) }
        work(context)
        // Nobody asks for so much before an answer.
        if held.readableBytes > Self.mostHeld { context.close(promise: nil) }
    }

    /// With what is held; not from within `work`, which does so itself.
    private func goOn() {
        guard !isWorking, held.readableBytes > 0, let context else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.execute {
            let (guardian, context) = bound.value
            guardian.work(context)
            context.fireChannelReadComplete()
        }
    }

    private func work(_ context: ChannelHandlerContext) {
        guard !isWorking else { return }
        isWorking = true
        defer { isWorking = false }
        while held.readableBytes > 0 {
            switch state {
            case .dropping: held = ByteBuffer()
            case .asking: return
            case .body(let left):
                guard let piece = held.readSlice(length: min(left, held.readableBytes)) else { return }
                state = left > piece.readableBytes ? .body(left - piece.readableBytes) : .asking
                context.fireChannelRead(wrapInboundOut(piece))
            case .head(let scan, let head): take(scan, head, context)
            }
        }
        held = ByteBuffer()
    }

    private func take(_ begun: HeadScan, _ before: ByteBuffer, _ context: ChannelHandlerContext) {
        var (scan, head) = (begun, before)
        if scan.count == 0 { arm(context) }
        var (outcome, count) = (HeadScan.Outcome?.none, 0)
        for byte in held.readableBytesView {
            outcome = scan.take(byte)
            count += 1
            if outcome != nil { break }
            guard scan.count <= limits.bytes else { return refuse(context, .tooLarge(limits.bytes)) }
        }
        if var piece = held.readSlice(length: count) { head.writeBuffer(&piece) }
        state = .head(scan, head)
        switch outcome {
        case nil: break
        case .fault(let fact): refuse(context, .malformed(fact))
        case .end where !scan.isCurrent: refuse(context, .otherVersion)
        case .end:
            alarm?.cancel()
            state = .asking
            context.fireChannelRead(wrapInboundOut(head))
        }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Closes the connection behind what was written; what still comes is dropped for a while.
    func linger() {
        guard let context else { return }
        alarm?.cancel()
        state = .dropping
        leave(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Nobody behind asks for more then.
        if case .dropping = state { context.read() }
        context.fireChannelReadComplete()
    }

    private func arm(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        alarm = context.eventLoop.scheduleTask(in: limits.time) {
            let (guardian, context) = bound.value
            guard case .head = guardian.state else { return }
            guardian.refuse(context, .late(guardian.limits.time))
        }
    }

    private func refuse(_ context: ChannelHandlerContext, _ refusal: HeadRefusal) {
        alarm?.cancel()
        state = .dropping
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: refusal.answer)), promise: nil)
        leave(context)
    }

    private func leave(_ context: ChannelHandlerContext) {
        context.close(mode: .output, promise: nil)
        context.read()
        let channel = context.channel
        context.eventLoop.scheduleTask(in: limits.lingering) { channel.close(promise: nil) }
    }
}

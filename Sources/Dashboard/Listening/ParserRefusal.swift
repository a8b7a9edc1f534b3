import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Says of a request that the parser has refused what is wrong with it, as of all others: the answer that is given for
/// such a one has nothing in it. It stands behind the parser.
final class ParserRefusal: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let guardian: HeadGuard
    private var refusal: HeadRefusal?
    private var isAnswering = false

    init(_ guardian: HeadGuard) { self.guardian = guardian }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? HTTPParserError { refusal = .malformed(Self.fact(of: error)) }
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let refusal else { return context.write(data, promise: promise) }
        switch unwrapOutboundIn(data) {
        // Answers to what came before have a length of their own.
        case .head(let head) where head.status == .badRequest && head.headerFields[.contentLength] == "0":
            isAnswering = true
            let problem = refusal.problem
            let body = ByteBuffer(bytes: problem.json)
            let fields: HTTPFields = [
                .contentType: Problem.mediaType, .contentLength: String(body.readableBytes), .connection: "close",
                .cacheControl: "no-store",
            ]
            let answer = HTTPResponse(status: problem.status, headerFields: fields)
            context.write(wrapOutboundOut(.head(answer)), promise: promise)
            context.write(wrapOutboundOut(.body(body)), promise: nil)
        case .end where isAnswering:
            context.writeAndFlush(data, promise: promise)
            guardian.linger()
        default: context.write(data, promise: promise)
        }
    }

    /// A sentence's beginning.
    private static func fact(of error: HTTPParserError) -> String {
        switch error {
        case .unexpectedContentLength: "it says its length more than once, or beside 'Transfer-Encoding'"
        case .invalidContentLength: "its 'Content-Length' is no number of bytes"
        case .invalidHeaderToken: "a line of its head is no header"
        case .invalidMethod: "its method is none of HTTP"
        case .headerOverflow: "its head is too large"
        default: "its head is not as HTTP/1.1 has it"
        }
    }
}

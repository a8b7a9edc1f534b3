import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Tells the guard what the parser has found in a head, and when a request has come whole.
final class RequestEnd: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let head: HeadGuard

    init(_ head: HeadGuard) { self.head = head }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let request): head.begin(bodyLength: Self.length(request))
        case .body: break
        case .end: head.expectHead()
        }
        context.fireChannelRead(data)
    }

    private static func length(_ request: HTTPRequest) -> Int? {
        // After the latter the parser takes nothing more.
        guard request.headerFields[.transferEncoding] == nil, request.headerFields[.upgrade] == nil else { return nil }
        return request.headerFields[.contentLength].map { Int($0) } ?? 0
    }
}

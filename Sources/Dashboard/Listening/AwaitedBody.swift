import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTPTypes

/// A body whose sender is told to go on when it is first read.
struct AwaitedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let channel: any Channel

    struct AsyncIterator: AsyncIteratorProtocol {
        var body: RequestBody.AsyncIterator
        let channel: any Channel
        var isAsked = false

        mutating func next() async throws -> ByteBuffer? {
            if !isAsked {
                isAsked = true
                try await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)))
            }
            return try await body.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: body.makeAsyncIterator(), channel: channel) }
}

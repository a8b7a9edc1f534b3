import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTPTypes

/// What HTTP/1.1 has for bodies that may be refused: a go-ahead before they come, and an end for those that are not
/// read.
enum RequestBodies {
    /// A body of more than this is not read only to be dropped.
    private static let largestDrained = 64 << 10

    /// The request with a body that asks for itself as soon as it is read, where its sender waits for that
    /// (`Expect: 100-continue`).
    static func asking(_ request: Request, on channel: any Channel) -> Request {
        guard request.headers[.expect]?.lowercased() == "100-continue" else { return request }
        return Request(
            head: request.head, body: RequestBody(asyncSequence: AwaitedBody(body: request.body, channel: channel)))
    }

    /// Whether so much of a body may be left that the connection is to be closed behind the answer.
    static func isLeft(of request: Request, after response: Response) -> Bool {
        if request.headers[.upgrade] != nil { return true }
        guard response.status.code >= 400 else { return false }
        if response.status == .requestTimeout { return true }
        guard let length = request.headers[.contentLength] else { return request.headers[.transferEncoding] != nil }
        return Int(length).map { $0 > largestDrained } ?? true
    }

    /// Closes the connection. What still comes is dropped for a while: a reset would take the answer along.
    static func leave(_ channel: any Channel) async throws {
        try await channel.pipeline.handler(type: HeadGuard.self).map { $0.linger() }.get()
    }
}

import Files
import HTTPTypes
import HummingbirdCore
import NIOCore

extension Route {
    /// How often it is looked whether who watches still may.
    private static let interval = Duration.seconds(15)

    static let events = Route(
        .get, "/api/v1/events", .role(.look), "What happens, as it happens", .other(mediaType: "text/event-stream"),
        refusals: [.serviceUnavailable]
    ) { call in
        let hub = call.site.events
        try await hub.check()
        let body = ResponseBody { writer in
            // Opened as the body is written: a HEAD, or a client that has gone, opens none. Where the last place has
            // been taken since, the answer ends, and the browser is told why when it asks again.
            guard let stream = try? await hub.open(after: call.request.headers[.lastEventID]) else {
                return try await writer.finish(nil)
            }
            do {
                try await writer.write(ByteBuffer(string: "retry: 2000\n\n"))
                var checked = MonotonicTime.now()
                while let bytes = await stream.next() {
                    try await writer.write(ByteBuffer(bytes: bytes))
                    guard .now() - checked >= interval else { continue }
                    checked = .now()
                    guard call.isStillAllowed() else { break }
                }
            } catch {
                // Nobody reads it any more.
                await hub.close(stream)
                throw error
            }
            await hub.close(stream)
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }
}

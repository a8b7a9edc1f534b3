import HTTPTypes
import HummingbirdCore
import NIOCore
import PipelineKit

/// Answers, as routes make them.
enum HTTPAnswer {
    static func json(_ status: HTTPResponse.Status = .ok, _ write: (inout JSONText) -> Void) -> Response {
        var json = JSONText()
        json.object(nil, write)
        return bytes(json.bytes, "application/json", status)
    }

    static func text(_ text: String, _ mediaType: String, _ status: HTTPResponse.Status = .ok) -> Response {
        bytes(Array(text.utf8), mediaType, status)
    }

    static func bytes(_ bytes: [UInt8], _ mediaType: String, _ status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: mediaType],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Leads to the page for that, and from there to what was asked for.
    static func signIn(then target: String) -> Response {
        Response(status: .seeOther, headers: [.location: "/login?next=\(Percent.encoded(target.utf8))"])
    }

    static var nothing: Response { Response(status: .noContent) }
}

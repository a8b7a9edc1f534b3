import HTTPTypes
import HummingbirdCore
import NIOCore
import PipelineKit

/// Why a request was refused, for people and for programs: RFC 9457.
struct Problem: Error, Equatable, Sendable {
    static let mediaType = "application/problem+json"

    var status: HTTPResponse.Status
    /// A word that stays the same.
    var code: String
    /// What is wrong: a sentence without its full stop.
    var fact: String
    /// What it is about.
    var subject: String?
    var remedy: String
    /// All of it, where there are several.
    var problems: [String] = []
    /// Seconds after which it may be tried again.
    var retryAfter: Int?

    init(
        _ status: HTTPResponse.Status, _ code: String, _ fact: String, subject: String? = nil, remedy: String,
        problems: [String] = [], retryAfter: Int? = nil
    ) {
        self.status = status
        self.code = code
        self.fact = fact
        self.subject = subject
        self.remedy = remedy
        self.problems = problems
        self.retryAfter = retryAfter
    }

    var json: [UInt8] {
        var text = JSONText()
        text.object { text in
            text.text("type", "about:blank")
            text.text("title", status.reasonPhrase)
            text.integer("status", status.code)
            text.text("code", code)
            text.text("detail", fact)
            if let subject { text.text("subject", subject) }
            text.text("remedy", remedy)
            if !problems.isEmpty {
                text.array("problems") { text in for problem in problems { text.text(nil, problem) } }
            }
        }
        return text.bytes
    }

    var response: Response {
        var headers: HTTPFields = [.contentType: Self.mediaType]
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
    }
}

extension Problem {
    static func notFound(_ subject: String, _ fact: String, remedy: String) -> Problem {
        Problem(.notFound, "not.found", fact, subject: subject, remedy: remedy)
    }

    static func badQuery(_ name: String, _ fact: String, remedy: String) -> Problem {
        Problem(.badRequest, "query.\(name)", fact, subject: name, remedy: remedy)
    }
}

import NIOCore

/// Why a request was not read, and what its sender is told.
enum HeadRefusal {
    case malformed(String)
    case otherVersion
    case late(TimeAmount)
    case tooLarge(Int)

    private var status: (code: Int, reason: String) {
        switch self {
        case .malformed: (400, "Bad Request")
        case .late: (408, "Request Timeout")
        case .otherVersion: (426, "Upgrade Required")
        case .tooLarge: (431, "Request Header Fields Too Large")
        }
    }

    var problem: Problem {
        switch self {
        case .malformed(let fact):
            Problem(.badRequest, "request.malformed", fact, remedy: "Send what RFC 9112 calls a request.")
        case .late(let time):
            Problem(
                .requestTimeout, "request.late", "its head has not come within \(time.nanoseconds / 1_000_000_000) s",
                remedy: "Send it again.")
        case .otherVersion:
            Problem(
                .upgradeRequired, "request.version", "it is not HTTP/1.1",
                remedy: "Speak HTTP/1.1; of nginx that is asked by 'proxy_http_version 1.1;'.")
        case .tooLarge(let limit):
            Problem(
                .requestHeaderFieldsTooLarge, "request.head", "its head has more than \(limit >> 10) KiB",
                remedy: "Send fewer or shorter headers, or a shorter address.")
        }
    }

    /// The whole answer, as bytes: the parser has seen nothing.
    var answer: [UInt8] {
        let body = problem.json
        var head = "HTTP/1.1 \(status.code) \(status.reason)\r\nContent-Type: \(Problem.mediaType)\r\n"
        head += "Content-Length: \(body.count)\r\nConnection: close\r\nCache-Control: no-store\r\n"
        if case .otherVersion = self { head += "Upgrade: HTTP/1.1\r\n" }
        return Array((head + "\r\n").utf8) + body
    }
}

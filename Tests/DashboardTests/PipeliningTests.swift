import Testing

@testable import Dashboard

/// Several requests on one connection, in whatever pieces they come.
@Suite("Pipelining", .timeLimit(.minutes(2))) struct PipeliningTests {
    private static let page = "GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n"
    private static let post =
        "POST /logout HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 5\r\n\r\nGET /"

    @Test("Two requests in one piece are two, and so are those that are cut anywhere")
    func cuts() async throws {
        let server = try TestServer()
        let both = Array((Self.page + Self.page).utf8)
        for cut in stride(from: 1, to: both.count, by: 7) {
            let connection = try server.connect()
            connection.send(Array(both[..<cut]))
            connection.send(Array(both[cut...]))
            var text = ""
            while text.ranges(of: "</html>").count < 2 {
                let piece = connection.receive()
                guard !piece.isEmpty else { break }
                text += String(decoding: piece, as: UTF8.self)
            }
            #expect(text.ranges(of: "HTTP/1.1 200 OK").count == 2, "cut at \(cut): \(text.prefix(80))")
        }
    }

    @Test("What follows a body is a head, and is looked at as one")
    func behindBody() async throws {
        let server = try TestServer()
        let connection = try server.connect()
        connection.send(Self.post + Self.page)
        let answer = connection.receive(until: "</html>")
        #expect(answer.hasPrefix("HTTP/1.1 ") && answer.contains("HTTP/1.1 200 OK"), "\(answer.prefix(300))")
        for second in ["GET / HTTP/1.1\nHost: localhost\n\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"] {
            for first in [Self.page, Self.post] {
                let connection = try server.connect()
                connection.send(first + second)
                let answers = String(decoding: connection.receiveAll(), as: UTF8.self)
                #expect(answers.contains("HTTP/1.1 400"), "\(answers.suffix(300))")
                #expect(answers.ranges(of: "HTTP/1.1 ").count <= 2)
            }
        }
    }

    @Test("Another protocol is not spoken: the answer is plain, and nothing more is taken behind it")
    func upgrade() async throws {
        let server = try TestServer()
        let connection = try server.connect()
        connection.send(
            "GET /login HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n" + Self.page)
        let answers = String(decoding: connection.receiveAll(), as: UTF8.self)
        #expect(answers.hasPrefix("HTTP/1.1 200 OK") && answers.lowercased().contains("connection: close"))
        #expect(answers.ranges(of: "HTTP/1.1 ").count == 1)
    }

    @Test("A body of unknown length is not taken, and nothing in it is a request")
    func chunks() async throws {
        let server = try TestServer()
        let connection = try server.connect()
        connection.send(
            "POST /login HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + Self.page)
        let answers = String(decoding: connection.receiveAll(), as: UTF8.self)
        #expect(answers.hasPrefix("HTTP/1.1 411"), "\(answers.prefix(200))")
        #expect(answers.ranges(of: "HTTP/1.1 ").count == 1)
    }
}

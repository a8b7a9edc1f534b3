import TestTools
import Testing

@testable import Dashboard

@Suite struct HeadScanTests {
    private func scan(_ text: String) -> (outcome: HeadScan.Outcome?, count: Int, isCurrent: Bool) {
        var scan = HeadScan()
        for byte in text.utf8 {
            if let outcome = scan.take(byte) { return (outcome, scan.count, scan.isCurrent) }
        }
        return (nil, scan.count, scan.isCurrent)
    }

    @Test("A head ends with its first empty line, and what is behind is not looked at")
    func end() {
        let head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        let found = scan(head + "body\n\0")
        #expect(found.outcome == .end && found.count == head.utf8.count && found.isCurrent)
        #expect(scan("GET / HTTP/1.1\r\n\r\n").outcome == .end)
        #expect(scan("GET / HTTP/1.1\r\nHost: a\r\n").outcome == nil)
    }

    @Test(
        "What others may read as another request is refused",
        arguments: [
            "GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\n\r\n", "GET /\r HTTP/1.1\r\n",
            "GET / HTTP/1.1\r\nA: b\0\r\n", "GET / HTTP/1.1\r\nA: b\r\r\n\r\n", "\n", "\0",
        ])
    func faults(_ text: String) {
        guard case .fault = scan(text).outcome else {
            Issue.record("\(text.debugDescription) passes")
            return
        }
    }

    @Test("Two names for the host, or another's address, are refused")
    func hosts() {
        #expect(scan("GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n").outcome != .end)
        #expect(scan("GET / HTTP/1.1\r\nHost: a\r\nHostess: b\r\n\r\n").outcome == .end)
        for target in ["http://a/", "*", "a:80", ""] {
            #expect(scan("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n").outcome != .end, "\(target)")
        }
    }

    @Test(
        "Only HTTP/1.1 is current",
        arguments: ["GET / HTTP/1.0", "GET / HTTP/2.0", "GET /", "HTTP/1.1", "GET / http/1.1", "GET / HTTP/1.1 ", ""])
    func versions(_ line: String) {
        #expect(scan(line + "\r\nHost: a\r\n\r\n").isCurrent == false)
    }

    @Test("Random bytes never trap, and are counted")
    func random() {
        var generator = SeededGenerator(seed: 20)
        let alphabet = Array("GET / HTTP/1.1:\r\n\r\n\0ab".utf8)
        for _ in 0..<2000 {
            var scan = HeadScan()
            for index in 1...Int.random(in: 1...80, using: &generator) {
                let byte = alphabet[Int.random(in: alphabet.indices, using: &generator)]
                let outcome = scan.take(byte)
                #expect(scan.count == index)
                if outcome != nil { break }
            }
        }
    }
}

import TestTools
import Testing

@testable import Dashboard

@Suite struct RequestPathTests {
    @Test(
        "What is no path here, or leads out of it, is none",
        arguments: [
            "", "jobs", "//", "/a//b", "/a/", "/.", "/..", "/a/../b", "/%2e%2e", "/a/%2E%2e/b", "/%", "/%g0", "/%4",
            "/a%00b",
        ])
    func none(_ text: String) { #expect(RequestPath(text) == nil) }

    @Test("An escaped slash belongs to its part")
    func parts() {
        #expect(RequestPath("/")?.parts == [])
        #expect(RequestPath("/a/b%20c")?.parts == [Array("a".utf8), Array("b c".utf8)])
        #expect(RequestPath("/drops/..%2f..%2fetc")?.parts.last == Array("../../etc".utf8))
        #expect(RequestPath("/a/%FF")?.parts.last == [255])
        #expect(RequestPath("/a+b")?.parts == [Array("a+b".utf8)])
    }

    @Test("A template takes what it names")
    func templates() throws {
        let template = PathTemplate("/api/v1/pipelines/{name}/drops/{path*}")
        #expect(template.description == "/api/v1/pipelines/{name}/drops/{path}")
        #expect(template.names == ["name", "path"])
        let path = try #require(RequestPath("/api/v1/pipelines/a%2Fb/drops/x/y"))
        let found = try #require(template.match(path))
        #expect(found["name"] == [Array("a/b".utf8)])
        #expect(found["path"] == [Array("x".utf8), Array("y".utf8)])
        for other in ["/api/v1/pipelines/a/drops", "/api/v1/pipelines/a", "/api/v1/pipelines/a/b/x", "/"] {
            let path = try #require(RequestPath(other))
            #expect(template.match(path) == nil)
        }
    }

    @Test("What is encoded is decoded to the same")
    func roundTrip() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            #expect(Percent.decoded(Array(Percent.encoded(bytes).utf8)) == bytes)
        }
    }

    @Test("A query's names and values are read as a form writes them")
    func query() throws {
        let query = try Query("name=a+b%2Bc&state=failed&state=&state=lost&limit=5&x")
        #expect(try query.text("name") == "a b+c")
        #expect(query.values("state").map { String(decoding: $0, as: UTF8.self) } == ["failed", "lost"])
        #expect(try query.integer("limit", in: 1...200) == 5)
        #expect(try query.text("x") == nil && query.text("y") == nil)
        #expect(throws: Problem.self) { try query.text("state") }
        #expect(throws: Problem.self) { try query.check(names: ["name", "state", "limit"]) }
        #expect(throws: Problem.self) { try Query("a=%") }
        #expect(throws: Problem.self) { try Query("%FF=1") }
        for limit in ["0", "201", "-1", "1e2", "99999999999999999999", "٣"] {
            let query = try Query("limit=\(Percent.encoded(limit.utf8))")
            #expect(throws: Problem.self) { try query.integer("limit", in: 1...200) }
        }
    }
}

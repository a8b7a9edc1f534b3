import Files
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Folders that come over HTTP, by several requests.
@Suite(.timeLimit(.minutes(10)), .serialized) struct FolderUploadTests: ServedInbox {
    let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try lay("ready: { quiet: 50ms, unit: folder }\n")
    }

    private func begin(_ name: String, files: Int, size: Int) throws -> String {
        try ask(
            "pipelines/press/folders/\(name)", Array(#"{"files":\#(files),"size":\#(size)}"#.utf8),
            ["Content-Type: application/json"], as: "POST")
    }

    /// The id of one that was begun.
    private func id(_ answer: String) throws -> String {
        let found = try #require(answer.firstMatch(of: /"upload":"([^"]+)"/), "\(answer)")
        return String(found.output.1)
    }

    private func send(_ path: String, _ text: String, of upload: String) throws -> String {
        try ask("uploads/\(upload)/files/\(path)", Array(text.utf8))
    }

    private func finish(_ upload: String) throws -> String { try ask("uploads/\(upload)/finish", as: "POST") }

    private func expect(
        _ answer: String, _ status: Int, _ code: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            answer.hasPrefix("HTTP/1.1 \(status) ") && answer.contains(code), "\(answer)",
            sourceLocation: sourceLocation)
    }

    @Test func aFolderGoesThroughAsOneJob() async throws {
        var (daemon, server) = (try await startDaemon(), try await startServer())
        let begun = try begin("box%201", files: 2, size: 8)
        expect(begun, 201, #""path":"box 1""#)
        let upload = try id(begun)
        expect(try send("a", "hello", of: upload), 201, #"{"path":"a","size":5}"#)
        expect(try send("50%20%25/b%0a", "abc", of: upload), 201)
        expect(try ask("uploads/\(upload)/folders/empty"), 204)
        #expect(try inbox().allSatisfy { $0.hasPrefix(".dropmill-") } && inbox().count == 1)
        let finished = try finish(upload)
        expect(finished, 201, #"{"pipeline":"press","path":"box 1","files":2,"size":8}"#)
        #expect(await eventually { scratch.exists("etc/done/box 1/empty") }, "\(daemon.transcript)")
        #expect(try scratch.text("etc/done/box 1/a") == "hello" && scratch.text("etc/done/box 1/50 %/b\n") == "abc")
        expect(try finish(upload), 404, "upload.unknown")
        try server.end()
        try daemon.end()
    }

    @Test func aWrongOneGetsAClearAnswerAndEndsIt() async throws {
        var (daemon, server) = (try await startDaemon(), try await startServer())
        expect(try begin(".box", files: 1, size: 1), 422, "name.refused")
        expect(try begin("box.part", files: 1, size: 1), 422, "name.refused")
        expect(try begin("a/b", files: 1, size: 1), 422, "name.refused")
        expect(try begin("a%2fb", files: 1, size: 1), 422, "name.refused")
        expect(try begin("..", files: 1, size: 1), 400, "path.malformed")
        expect(try begin("box", files: -1, size: 1), 400, "upload.length")
        expect(try begin("box", files: 1, size: -1), 400, "upload.length")
        expect(try begin("box", files: 10_001, size: 1), 413, "upload.entries")
        expect(try begin("box", files: 1, size: 64 << 20 | 1), 413, "upload.size")
        expect(try put("box", [1]), 422, "upload.unit")
        expect(try finish("nobodys"), 404, "upload.unknown")
        expect(try send("a", "x", of: "nobodys"), 404, "upload.unknown")
        expect(try ask("uploads/nobodys", as: "DELETE"), 404, "upload.unknown")
        let wrong: [(path: String, text: String, status: Int, code: String)] = [
            ("a", "x", 409, "name.taken"), ("a/b", "x", 409, "name.taken"), (".b", "x", 422, "name.refused"),
            ("b%2fc", "x", 422, "name.refused"), ("b%2f..%2f..%2fc", "x", 422, "name.refused"),
            ("b.part", "x", 422, "name.refused"),
            (String(repeating: "b", count: 256), "x", 422, "name.refused"),
            ("b", "12345", 400, "upload.length"),
            (Array(repeating: "b", count: 66).joined(separator: "/"), "x", 422, "name.refused"),
        ]
        for wrong in wrong {
            let upload = try id(try begin("box", files: 3, size: 5))
            expect(try send("a", "x", of: upload), 201)
            // What makes no sense at all is about no folder.
            expect(try send("../b", "x", of: upload), 400, "path.malformed")
            expect(try send("b%00", "x", of: upload), 400, "path.malformed")
            expect(try send("b//c", "x", of: upload), 400, "path.malformed")
            expect(try send(wrong.path, wrong.text, of: upload), wrong.status, wrong.code)
            expect(try finish(upload), 404, "upload.unknown")
            #expect(try await eventually { try inbox().isEmpty })
        }
        let ranged = try id(try begin("box", files: 2, size: 2))
        expect(try ask("uploads/\(ranged)/files/b", [1], ["Content-Range: bytes 0-0/2"]), 400, "upload.range")
        expect(try finish(ranged), 404, "upload.unknown")
        let early = try id(try begin("box", files: 2, size: 2))
        expect(try send("a", "x", of: early), 201)
        expect(try finish(early), 400, "upload.length")
        let cancelled = try id(try begin("box", files: 2, size: 2))
        expect(try send("a", "x", of: cancelled), 201)
        expect(try ask("uploads/\(cancelled)", as: "DELETE"), 204)
        expect(try send("b", "x", of: cancelled), 404, "upload.unknown")
        #expect(try await eventually { try inbox().isEmpty })
        try server.end()
        try daemon.end()
    }

    @Test func aFileThatBreaksOffEndsTheWholeAndOneAtATimeComes() async throws {
        var (daemon, server) = (try await startDaemon(), try await startServer())
        for digest in [[], ["Repr-Digest: sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"]] {
            let upload = try id(try begin("box", files: 2, size: 2_000_000))
            expect(try send("in/a", "x", of: upload), 201)
            let path = "uploads/\(upload)/files/b"
            if digest.isEmpty {
                let exchange = try RawExchange(socket)
                exchange.send(Self.head(path, size: 1_000_000) + [UInt8](repeating: 7, count: 500_000))
                #expect(
                    try await eventually {
                        let answer = try send("c", "x", of: upload)
                        return answer.contains("upload.turn") && answer.hasPrefix("HTTP/1.1 409 ")
                    })
            } else {
                expect(try ask(path, Array("abc".utf8), digest), 422, "upload.digest")
            }
            #expect(try await eventually { try inbox().isEmpty })
            expect(try finish(upload), 404, "upload.unknown")
        }
        try server.end()
        try daemon.end()
    }

    /// `DROPMILL_KILLS` says how often.
    @Test func killsOfTheServerLeaveNothing() async throws {
        let kills = getenv("DROPMILL_KILLS").flatMap { Int(String(cString: $0)) } ?? 4
        var daemon = try await startDaemon()
        for round in 0..<kills {
            var server = try await startServer()
            let upload = try id(try begin("box", files: 3, size: 3_000_000))
            expect(try send("in/a", "x", of: upload), 201)
            let exchange = try RawExchange(socket)
            exchange.send(Self.head("uploads/\(upload)/files/b", size: 2_000_000))
            exchange.send([UInt8](repeating: 7, count: round * 400_000))
            #expect(try inbox().count == 1)
            try server.send(SIGKILL)
            _ = try server.wait()
            #expect(try await eventually { try inbox().isEmpty }, "round \(round)")
        }
        // The daemon killed in the middle, too.
        var server = try await startServer()
        let upload = try id(try begin("box", files: 2, size: 2))
        expect(try send("in/a", "x", of: upload), 201)
        try daemon.end()
        #expect(try inbox().count == 1)
        expect(try send("b", "x", of: upload), 503)
        daemon = try await startDaemon()
        #expect(try await eventually { try inbox().isEmpty })
        #expect(!scratch.exists("etc/done/box"))
        let next = try id(try begin("box", files: 1, size: 1))
        expect(try send("a", "x", of: next), 201)
        expect(try finish(next), 201)
        #expect(await eventually { scratch.exists("etc/done/box/a") })
        try server.end()
        try daemon.end()
    }
}

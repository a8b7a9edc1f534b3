import Files
import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

/// What the pages get to know of a real daemon, through `dropmill serve`.
@Suite(.timeLimit(.minutes(10))) struct PageAnswerTests: DaemonTests {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private var socket: FilePath { scratch.path("web.sock") }

    private func serve(_ more: String...) async throws -> DropmillProcess {
        let server = try DropmillProcess(
            ["serve", "--listen", socket.string] + more, in: scratch.path, log: scratch.path("serve.log"))
        try #require(
            await eventually {
                do throws(IOError) { _ = try RawExchange(socket) } catch { return false }
                return true
            }, "\(server.transcript)")
        return server
    }

    /// Status and body of the answer to one request.
    private func ask(_ line: String, _ body: String? = nil) throws -> (status: String, body: String) {
        let exchange = try RawExchange(socket)
        var lines = ["\(line) HTTP/1.1", "Host: localhost", "Origin: http://localhost", "Connection: close"]
        if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
        exchange.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")).utf8))
        let answer = exchange.receive()
        let halves = answer.split(separator: "\r\n\r\n", maxSplits: 1)
        return (String(answer.dropFirst(9).prefix(3)), halves.count > 1 ? String(halves[1]) : "")
    }

    private func get<Answer: Decodable>(_ path: String, as type: Answer.Type) throws -> Answer {
        let answer = try ask("GET /api/v1/\(path)")
        #expect(answer.status == "200", "\(answer.body)")
        return try JSONDecoder().decode(type, from: Data(answer.body.utf8))
    }

    private struct Waiting: Decodable {
        struct Pipeline: Decodable {
            var name, state: String
            var waiting: Int
            var hold: Hold?
            var complete: Complete
            var reasons: [Reason]
            var drops: [Drop]
            var more: String?
        }

        struct Hold: Decodable { var kind, by, reason: String }
        struct Complete: Decodable { var drops, bytes: Int }
        struct Reason: Decodable, Equatable { var code: String, drops: Int }
        struct Drop: Decodable {
            var pipeline, path, code, text: String
            var path_base64, kind: String?
            var complete: Bool
        }

        var pipelines: [Pipeline]
        var left: [Drop]
        var left_more: String?
    }

    private struct Overview: Decodable {
        struct Daemon: Decodable { var node: String? }
        struct Node: Decodable {
            struct Held: Decodable { var pipeline: String }
            var name, state: String
            var jobs: Int
            var held: [Held]
        }
        struct Pipeline: Decodable {
            struct Jobs: Decodable { var running: Int }
            var jobs: Jobs
        }

        var daemon: Daemon
        var nodes: [Node]?
        var pipelines: [Pipeline]
    }

    private struct OneJob: Decodable {
        struct Held: Decodable { var node: String? }
        var id, state: String
        var node: String?
        var held: Held?
        var may: [String: String]?
    }

    @Test(.enabled(if: PostgresServer.isPossible, "needs postgresql")) func whatOtherNodesHaveIsTold() async throws {
        let place = try PostgresServer.shared.get().schema()
        try scratch.write("", to: "gate")
        try write(
            "a", stages: "[run: { command: [sh, -c, 'while [ -e \(scratch.path("gate")) ]; do sleep 0.05; done'] }]")
        func node(_ name: String) async throws -> DropmillProcess {
            let daemon = try DropmillProcess(
                ["run", "--journal", place, "--node", name, "--state-dir", "state-\(name)", "--log-format", "json"],
                in: scratch.path, log: scratch.path("\(name).log"))
            try #require(await eventually { try daemon.hasLogged("started") }, "\(daemon.transcript)")
            return daemon
        }
        var first = try await node("first")
        var server = try await serve("--state-dir", "state-first")
        func overview() throws -> Overview { try get("overview", as: Overview.self) }
        #expect(try await eventually { try overview().nodes?.map(\.name) == ["first"] })
        #expect(try overview().daemon.node == "first")
        // The first claims nothing, so that the second has both: one runs, one waits there.
        #expect(try run("pause", "a", "--node", "first", "--journal", place).status == 0)
        #expect(try await eventually { try overview().nodes?.first?.held.map(\.pipeline) == ["a"] })
        var second = try await node("second")
        for name in ["1", "2"] { try scratch.write("content", to: "pipelines/a-in/\(name)") }
        #expect(
            try await eventually {
                let seen = try overview()
                return seen.nodes?.map(\.name) == ["first", "second"] && seen.nodes?.last?.jobs == 2
                    && seen.pipelines[0].jobs.running == 1
            }, "\(second.transcript)")
        #expect(try run("pause", "a", "--node", "second", "--journal", place).status == 0)
        struct Jobs: Decodable { var jobs: [OneJob] }
        func jobs() throws -> [OneJob] { try get("jobs", as: Jobs.self).jobs }
        #expect(try await eventually { try jobs().first { $0.state == "queued" }?.held?.node == "second" })
        #expect(try jobs().map(\.node) == ["second", "second"])
        let story = try get("jobs/\(try jobs()[0].id)", as: OneJob.self)
        #expect(story.may?["cancel"]?.hasPrefix("the node 'second' has it") == true)
        let list = try run("jobs", "--journal", place).text
        #expect(list.contains("NODE") && list.contains(/second +paused on second by/), "\(list)")
        try Folder.remove(scratch.path("gate"))
        #expect(try run("resume", "a", "--journal", place).status == 0)
        #expect(try await eventually { try overview().nodes?.last?.jobs == 0 })
        try stop(&second)
        #expect(try await eventually { try overview().nodes?.map(\.name) == ["first"] })
        try stop(&server)
        try stop(&first)
    }

    @Test func whatWaitsIsToldPageByPage() async throws {
        try write("a", "match: { include: ['*.pdf'] }\n")
        try write("b")
        var daemon = try await start()
        var server = try await serve()
        #expect(try run("pause", "a", "--reason", "RIP").status == 0)
        let stranger: [UInt8] = [0xFF, 0x0A] + Array("<b>.pdf".utf8)
        let folder = scratch.path("pipelines/a-in")
        try scratch.write([1], to: folder.appending(try #require(FileName(stranger))))
        for name in ["1.pdf", "2.pdf", "3.pdf", "x.doc", "y.doc", "z.part"] {
            try scratch.write("x", to: "pipelines/a-in/\(name)")
        }
        func waiting(_ query: String = "") throws -> Waiting { try get("waiting?\(query)", as: Waiting.self) }
        func counts(_ waiting: Waiting) -> [Int?] { [waiting.pipelines.first?.complete.drops, waiting.left.count] }
        #expect(try await eventually { try counts(waiting()) == [4, 3] })
        let all = try waiting()
        #expect(all.pipelines.map(\.name) == ["a", "b"] && all.pipelines.map(\.state) == ["paused", "idle"])
        #expect(all.pipelines[0].hold?.reason == "RIP" && all.pipelines[0].drops.isEmpty)
        #expect(
            all.pipelines[0].reasons == [.init(code: "held", drops: 4)] && all.left.map(\.pipeline) == ["a", "a", "a"])
        var (found, after): ([Waiting.Drop], String?) = ([], nil)
        repeat {
            let key = after.map { "&after=\(Self.escaped($0))" } ?? ""
            let page = try waiting("pipeline=a&kind=held&limit=3\(key)")
            #expect(page.pipelines.count == 1 && page.left.isEmpty)
            found += page.pipelines[0].drops
            after = page.pipelines[0].more
        } while after != nil && found.count < 9
        #expect(found.count == 4 && found.allSatisfy { $0.complete && $0.kind == "file" && $0.code == "held" })
        #expect(found.compactMap(\.path_base64) == [Data(stranger).base64EncodedString()])
        #expect(try waiting("kind=complete&name=2*").pipelines[0].drops.map(\.path) == ["2.pdf"])
        let left = try waiting("kind=left&limit=2")
        #expect(left.left.map(\.path) == ["x.doc", "y.doc"])
        let rest = try waiting("limit=2&left_after=\(Self.escaped(try #require(left.left_more)))")
        #expect(rest.left.map(\.path) == ["z.part"] && rest.left_more == nil)
        for wrong in ["kind=x", "name=%7Ba", "limit=0", "pipeline=c", "after=x", "pipeline=a&after=1", "left_after=x"] {
            let answer = try ask("GET /api/v1/waiting?\(wrong)")
            #expect(answer.status.hasPrefix("4") && answer.body.contains(#""remedy""#), "\(wrong): \(answer)")
        }
        try server.end()
        try stop(&daemon)
    }

    private struct Run: Decodable {
        struct Result: Decodable {
            var job: String
            var done: Bool
            var text: String?
        }

        var run: String
        var jobs, bytes: Int?
        var names: [String]?
        var more: Bool?
        var key: String?
        var results: [Result]
        var left: Int
        var over: Bool
        var problem: String?
    }

    private struct Jobs: Decodable {
        struct Job: Decodable { var id, name, state, producer: String }

        var jobs: [Job]
        var next: String?
    }

    private func post(_ path: String, _ body: String) throws -> Run {
        let answer = try ask("POST /api/v1/\(path)", body)
        #expect(answer.status == "200", "\(answer.body)")
        return try JSONDecoder().decode(Run.self, from: Data(answer.body.utf8))
    }

    private func names(_ query: String) throws -> [String] {
        try get("jobs?\(query)", as: Jobs.self).jobs.map(\.name).sorted()
    }

    /// What became of a run once it is over.
    private func end(of run: String) async throws -> Run {
        var all: [Run.Result] = []
        while true {
            var part = try get("runs/\(run)?after=\(all.count)", as: Run.self)
            all += part.results
            part.results = all
            if part.over { return part }
        }
    }

    /// Two people looked at the same jobs before either went on.
    @Test func whatOneReplaySentAnotherDoesNot() async throws {
        try write("a")
        var daemon = try await start()
        var server = try await serve()
        for name in ["1", "2"] { try scratch.write(name, to: "pipelines/a-in/\(name)") }
        #expect(try await eventually { try names("state=processed") == ["1", "2"] })
        #expect(try run("pause", "a").status == 0)
        let order = #""verb":"replay","filter":{"pipeline":"a"}"#
        let keys = try (0..<2).map { _ in try #require(try post("runs/preview", "{\(order)}").key) }
        var sent: [Int] = []
        for key in keys {
            let run = try post("runs", "{\(order),\"key\":\"\(key)\"}")
            sent.append(try await end(of: run.run).results.count(where: \.done))
        }
        #expect(sent == [2, 0])
        let copies = try Folder.names(in: scratch.path("pipelines/a-in")).map(\.text).filter { !$0.hasPrefix(".") }
        #expect(copies.sorted() == ["1", "2"])
        try server.end()
        try stop(&daemon)
    }

    @Test func aRunIsOfTheJobsThatItsDryRunFound() async throws {
        try write("a", stages: "[run: { command: [test, -e, \(scratch.path.string)/mended] }]")
        try write("b", stages: "[run: { command: [sleep, '100'] }]")
        var daemon = try await start()
        var server = try await serve()
        // One after the other, so that it is known which are the oldest.
        for name in ["1", "2", "3"] {
            try scratch.write(name, to: "pipelines/a-in/\(name)")
            #expect(try await eventually { try names("state=failed").contains(name) })
        }
        let order = #""verb":"retry","filter":{"pipeline":"a","state":"failed","since":"1h"}"#
        let some = try post("runs/preview", "{\(order),\"limit\":2}")
        #expect(some.jobs == 2 && some.more == true && some.names == ["1", "2"])
        let found = try post("runs/preview", "{\(order)}")
        #expect(found.jobs == 3 && found.bytes == 3 && found.more == false && found.over && found.left == 0)
        let key = try #require(found.key)
        try scratch.write("4", to: "pipelines/a-in/4")
        #expect(try await eventually { try names("state=failed").count == 4 })
        try scratch.write("", to: "mended")
        let other = #"{"verb":"retry","filter":{"pipeline":"b"},"key":"\#(key)"}"#
        let refused = try ask("POST /api/v1/runs", other)
        #expect(refused.status == "409" && refused.body.contains("the dry run was of other jobs"), "\(refused)")
        #expect(try ask("POST /api/v1/runs", "{\(order)}").body.contains("body.key"))
        let run = try post("runs", "{\(order),\"key\":\"\(key)\"}")
        let end = try await end(of: run.run)
        #expect(end.results.count == 3 && end.results.allSatisfy(\.done) && end.problem == nil && end.left == 0)
        #expect(try await eventually { try names("state=processed") == ["1", "2", "3"] })
        #expect(scratch.exists("pipelines/a-failed/4"))
        let again = try ask("POST /api/v1/runs", "{\(order),\"key\":\"\(key)\"}")
        #expect(again.status == "409" && again.body.contains("its dry run is not known any more"), "\(again)")
        try await cancel()
        let jobs = try get("jobs", as: Jobs.self).jobs
        let producer = try #require(jobs.first?.producer)
        #expect(try names("producer=\(producer)").count == jobs.count && names("producer=\(producer)x").isEmpty)
        for wrong in [
            #"{"verb":"forget","jobs":["x"]}"#, #"{"verb":"retry","filter":{"stage":"1"}}"#,
            #"{"verb":"retry","filter":{"state":"done"}}"#,
            #"{"verb":"retry","filter":{"state":"queued,processed"}}"#,
            #"{"verb":"retry"}"#, #"{"verb":"retry","filter":{"pipeline":"a"},"limit":0}"#,
            #"{"verb":"retry","filter":{"name":"{"}}"#, #"{"verb":"retry","jobs":["x"],"filter":{"pipeline":"a"}}"#,
        ] {
            let answer = try ask("POST /api/v1/runs/preview", wrong)
            #expect(answer.status.hasPrefix("4") && answer.body.contains(#""remedy""#), "\(wrong): \(answer)")
        }
        try server.end()
        try stop(&daemon)
    }

    /// Jobs of the pipeline that sleeps.
    private func cancel() async throws {
        for name in ["5", "6"] { try scratch.write(name, to: "pipelines/b-in/\(name)") }
        #expect(try await eventually { try names("state=queued,running") == ["5", "6"] })
        let order = #""verb":"cancel","filter":{"state":"queued,running"}"#
        let found = try post("runs/preview", "{\(order)}")
        #expect(found.jobs == 2)
        let run = try post("runs", "{\(order),\"key\":\"\(try #require(found.key))\"}")
        let end = try await end(of: run.run)
        #expect(end.results.count == 2 && end.results.allSatisfy { $0.done && $0.text?.hasPrefix("cancelled") == true })
        #expect(try await eventually { try names("state=cancelled") == ["5", "6"] })
        let late = try post("runs/preview", #"{"verb":"cancel","jobs":["5","nothing"]}"#)
        #expect(late.jobs == 0 && late.results.count == 2 && late.results.allSatisfy { !$0.done && $0.text != nil })
        #expect(try self.run("audit", "--verb", "cancelAll").text.contains("2 cancelled"))
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("+", with: "%2B").replacing("=", with: "%3D").replacing("/", with: "%2F")
    }
}

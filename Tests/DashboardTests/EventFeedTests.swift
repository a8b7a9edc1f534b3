import Files
import Journal
import Testing

@testable import Control
@testable import Dashboard

@Suite struct EventFeedTests {
    private func board(run: String = "1", _ names: [String] = ["a", "b"], queued: Int = 0) -> BoardVerb.Answer {
        var board = BoardVerb.Answer(
            run: run, version: "1", host: "h", zone: "UTC", offset: 0, now: 0, started: 0, today: 0)
        board.pipelines = names.map { name in
            var jobs = BoardPipeline.Jobs()
            if name == "a" { jobs.queued = queued }
            return BoardPipeline(
                name: name, file: .init(), inbox: .init(), jobs: jobs, today: .init(),
                minutes: .init(last: 0, jobs: [], failed: [], bytes: []))
        }
        return board
    }

    private func text(_ events: [[UInt8]]) -> [String] { events.map { String(decoding: $0, as: UTF8.self) } }
    private func names(_ events: [[UInt8]]) -> [String] {
        text(events).map { String($0.firstMatch(of: /event: (\w+)/)?.output.1 ?? "") }
    }
    private func id(_ events: [[UInt8]]) throws -> String {
        String(try #require(text(events).last?.firstMatch(of: /id: (\S+)/)?.output.1))
    }

    @Test("The first is everything, then only what has changed")
    func board() throws {
        var feed = EventFeed(epoch: "e")
        #expect(feed.events(after: nil).isEmpty)
        #expect(names(feed.take(board())) == ["snapshot"])
        let same = text(feed.take(board()))
        #expect(same.count == 1 && same[0].contains("event: board") && same[0].contains("\"pipelines\":[]"))
        let changed = text(feed.take(board(queued: 2)))
        #expect(changed[0].contains("\"name\":\"a\"") && !changed[0].contains("\"name\":\"b\""))
        #expect(names(feed.take(board(["a"]))) == ["snapshot"], "another list of pipelines")
        #expect(names(feed.take(board(run: "2", ["a"]))) == ["snapshot"], "another daemon")
        #expect(names(feed.events(after: nil)) == ["snapshot"])
    }

    @Test("Nodes are told of when they change, and all is told anew where they are not known any more")
    func nodes() throws {
        var feed = EventFeed(epoch: "e")
        var board = board(["a", "b"])
        (board.node, board.nodes) = ("mill-1", [try node("mill-1", jobs: 1)])
        let first = text(feed.take(board))
        #expect(first[0].contains(#""node":"mill-1""#) && first[0].contains(#""state":"alive","jobs":1"#))
        #expect(!text(feed.take(board))[0].contains("nodes"))
        board.nodes = [try node("mill-1", jobs: 2)]
        let second = feed.take(board)
        #expect(names(second) == ["board"] && text(second)[0].contains(#""jobs":2"#))
        board.nodes = nil
        let lost = feed.take(board)
        #expect(names(lost) == ["snapshot"] && !text(lost)[0].contains("nodes"))
    }

    private func node(_ name: String, jobs: Int) throws -> BoardNode {
        BoardNode(
            NodeRecord(
                incarnation: "1", name: name, host: name, version: "1", since: Timestamp(nanoseconds: 0),
                lease: .seconds(9), isDead: false, jobs: jobs))
    }

    @Test("How far stages are is an event of its own, and no reason to tell of all the rest again")
    func progress() throws {
        var feed = EventFeed(epoch: "e")
        var board = board(["a", "b"])
        _ = feed.take(board)
        board.pipelines[0].runs = [
            .init(job: "J1", time: 2, bytes: 5, entries: 1, total: 10),
            .init(job: "J2", time: 2, bytes: 0, entries: 3, total: nil),
            .init(job: "J3", time: 2, bytes: 0, entries: 0, total: nil),
        ]
        let told = feed.take(board)
        #expect(names(told) == ["board", "progress"])
        #expect(text(told)[0].contains("\"pipelines\":[]"))
        let jobs = [
            #"{"id":"J1","progress":{"done":5,"of":10,"unit":"bytes","rate":3}}"#,
            #"{"id":"J2","progress":{"done":3,"unit":"entries","rate":2}}"#, #"{"id":"J3"}"#,
        ]
        #expect(text(told)[1].contains(#"data: {"jobs":[\#(jobs.joined(separator: ","))]}"#), "\(text(told)[1])")
        #expect(names(feed.take(board)) == ["board"], "nothing has moved")
    }

    @Test("What nobody can follow is not told one by one, and little is kept")
    func crowds() throws {
        var feed = EventFeed(epoch: "e")
        let first = try id(feed.take(board()))
        let message = String(repeating: "m", count: 1000)
        func changes(_ count: Int) -> [SubscribeVerb.Change] {
            (0..<count).map { .init(number: UInt64($0), at: 0, event: "claimed", message: message, job: "j") }
        }
        #expect(names(feed.take(changes(4000))) == ["missed"])
        for _ in 0..<20 { #expect(names(feed.take(changes(500))) == ["jobs"]) }
        #expect(names(feed.events(after: first)) == ["snapshot"], "10 MB are not kept")
    }

    @Test("Files that are not as they were loaded are told once, and to who comes")
    func files() throws {
        var feed = EventFeed(epoch: "e")
        _ = feed.take(board())
        var files = FilesVerb.Answer(given: [], loaded: [.init("/a.yaml".utf8)])
        files.differences = [.init(file: .init("/a.yaml".utf8), kind: .changed)]
        feed.take(files)
        let told = "\"files\":{\"loaded\":1,\"changed\":[{\"file\":\"/a.yaml\",\"kind\":\"changed\"}]}"
        #expect(text(feed.take(board()))[0].contains(told))
        feed.take(files)
        #expect(!text(feed.take(board()))[0].contains("files"))
        #expect(text(feed.events(after: nil))[0].contains(told))
    }

    @Test("One that comes back goes on where it was, or begins anew")
    func resuming() throws {
        var feed = EventFeed(epoch: "epoch123")
        let first = try id(feed.take(board()))
        let second = try id(feed.take(board(queued: 1)))
        _ = feed.take([.init(number: 1, at: 0, event: "claimed", message: "m\nn", job: "j")])
        #expect(names(feed.events(after: first)) == ["board", "jobs"])
        #expect(names(feed.events(after: second)) == ["jobs"])
        #expect(text(feed.events(after: second))[0].split(separator: "\n").count == 3, "no line break of anybody")
        for other in ["epoch123-99", "other-1", "x", "epoch123-", "epoch123--1"] {
            #expect(names(feed.events(after: other)) == ["snapshot"], "\(other)")
        }
        for _ in 0..<300 { _ = feed.take(board()) }
        #expect(names(feed.events(after: first)) == ["snapshot"], "too long ago")
    }

    @Test("That the daemon is gone is said once, and that it is back with everything")
    func absence() throws {
        var feed = EventFeed(epoch: "e")
        let down = Problem(.serviceUnavailable, "daemon.down", "the daemon is not running", remedy: "Start it.")
        _ = feed.take(board())
        #expect(names(feed.lose(down)) == ["daemon"])
        #expect(feed.lose(down).isEmpty)
        #expect(names(feed.events(after: nil)) == ["daemon"])
        #expect(names(feed.take(board())) == ["snapshot"])
    }
}

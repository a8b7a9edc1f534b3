import Dispatch
import Files
import PipelineKit
import Synchronization
import TestSupport
import Testing

@testable import Journal
@testable import PostgresJournal

/// What people order on nodes that share a journal, by way of that.
@Suite("Orders to nodes", .enabled(if: PostgresServer.isPossible, "needs postgresql"), .timeLimit(.minutes(5)))
struct PostgresOrdersTests {
    private let server: PostgresServer
    private let place: String

    init() throws {
        server = try PostgresServer.shared.get()
        place = try server.schema()
    }

    private func open(_ node: String) throws -> PostgresJournal {
        try PostgresJournal.open(place, as: Incarnation(of: node, on: "host of \(node)", version: "1"))
    }

    private func hold(_ pipeline: String, since: Int, on node: String? = nil) -> HoldRecord {
        HoldRecord(
            pipeline: pipeline, kind: .pause, by: "é \"", user: .max, since: JournalSamples.time(since), on: node)
    }

    @Test("Who only reads holds pipelines on all nodes and on single ones, and every node knows")
    func holds() throws {
        let (first, second) = (try open("a"), try open("b"))
        let reading = try PostgresJournal.open(reading: place)
        defer { [first, second, reading].forEach { $0.close() } }
        let all = [
            hold("press", since: 1, on: "a"), hold("scans", since: 1), hold("scans", since: 1, on: "a"),
            hold("scans", since: 2, on: "b \" é"),
        ]
        try reading.change(HoldChange(of: all.reversed()))
        #expect(try first.holds() == all && second.holds() == all && reading.holds() == all)
        let renewed = hold("scans", since: 3, on: "a")
        try second.change(HoldChange(of: [renewed]))
        // The one whose time is over was another.
        try first.change(HoldChange(over: [all[2]]))
        #expect(try first.holds() == [all[0], all[1], renewed, all[3]])
        try first.change(HoldChange(over: [all[1], renewed]))
        #expect(try second.holds() == [all[0], all[3]])
        try reading.change(HoldChange(renamed: [(old: "press", new: "print")], before: [all[0]]))
        #expect(try second.holds() == [all[0].passed(to: "print"), all[3]])
    }

    @Test(
        "What holds for a time ends at the same moment on all hosts, whatever their clocks say", arguments: [600, -600])
    func ends(seconds: Int) throws {
        try open("a").close()
        let right = try PostgresJournal.open(reading: place)
        let wrong = try PostgresJournal.open(reading: place) { Timestamp.now().advanced(by: .seconds(seconds)) }
        defer { [right, wrong].forEach { $0.close() } }
        let error = try wrong.clockOffset() - .seconds(seconds)
        #expect(try right.clockOffset() == .zero && error > .seconds(-3) && error < .seconds(3), "\(error)")
        for (one, other) in [(right, wrong), (wrong, right)] {
            let now = one.now()
            let hold = HoldRecord(
                pipeline: "scans", kind: .pause, by: "anna", user: 0, since: now,
                until: now.advanced(by: .seconds(300)))
            try one.change(HoldChange(of: [hold]))
            #expect(try one.holds() == [hold], "it is the same to whoever has ordered it")
            let found = try #require(try other.holds().first)
            let rest = try #require(found.until) - other.now()
            #expect(!found.isOver(at: other.now()) && rest > .seconds(290) && rest < .seconds(302), "\(rest)")
            #expect(try other.holds() == [found], "it is the same each time")
        }
    }

    @Test("Nodes are known by name, also those that are dead")
    func names() throws {
        let (first, second) = (try open("a"), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        try first.write([JournalSamples.job(1)], pipelines: [])
        try first.release([JournalSamples.job(1).id])
        try first.leave()
        try second.write([], pipelines: [JournalSamples.pipeline("scans")])
        #expect(try second.names() == ["a", "b"] && second.node == "b")
    }

    @Test("A request comes once to whom it is for, and its answer to whoever asked")
    func requests() throws {
        let (first, second) = (try open("a"), try open("b"))
        let reading = try PostgresJournal.open(reading: place)
        defer { [first, second, reading].forEach { $0.close() } }
        let (a, b) = (first.incarnationID, second.incarnationID)
        let numbers = try reading.ask([(a, "one"), (b, "two \u{1F600}\\u0000"), (a, "three")], by: "anna", user: .max)
            .compactMap(\.self)
        try #require(numbers.count == 3)
        #expect(
            try first.takeRequests() == [
                NodeRequest(number: numbers[0], line: "one", by: "anna", user: .max),
                NodeRequest(number: numbers[2], line: "three", by: "anna", user: .max),
            ])
        #expect(try first.takeRequests().isEmpty)
        try first.answer(numbers[2], with: "yes")
        #expect(
            try reading.standings(of: numbers) == [
                numbers[0]: .init(isTaken: true), numbers[1]: .init(isTaken: false),
                numbers[2]: .init(isTaken: true, answer: "yes"),
            ])
        let last = try reading.withdraw(numbers)
        #expect(last[numbers[1]] == .init(isTaken: false) && last[numbers[2]]?.answer == "yes")
        // It was not taken, and is not any more.
        #expect(try second.takeRequests().isEmpty && reading.standings(of: numbers).isEmpty)
        try first.answer(numbers[0], with: "late")
    }

    @Test("Either a request is taken or it is withdrawn")
    func race() throws {
        let node = try open("a")
        let reading = try PostgresJournal.open(reading: place)
        defer { [node, reading].forEach { $0.close() } }
        for _ in 0..<50 {
            let number = try #require(try reading.ask([(node.incarnationID, "x")], by: "anna", user: 1).first ?? nil)
            let taken = Mutex(0)
            let withdrawn = Mutex<Bool?>(nil)
            DispatchQueue.concurrentPerform(iterations: 2) { turn in
                if turn == 0 {
                    let count = (try? node.takeRequests())?.count ?? -1
                    taken.withLock { $0 = count }
                } else {
                    let standing = (try? reading.withdraw([number]))?[number]
                    withdrawn.withLock { $0 = standing?.isTaken }
                }
            }
            #expect(taken.withLock { $0 } == (withdrawn.withLock { $0 } == true ? 1 : 0))
        }
    }

    @Test("A dead node's requests are over and go; what nobody waits for any more is not taken")
    func dead() throws {
        let (first, second) = (try open("a"), try open("b"))
        let reading = try PostgresJournal.open(reading: place)
        defer { [first, second, reading].forEach { $0.close() } }
        let (a, b) = (first.incarnationID, second.incarnationID)
        let numbers = try reading.ask([(a, "one"), (a, "two")], by: "anna", user: 1).compactMap(\.self)
        try first.leave()
        let standings = try reading.standings(of: numbers)
        #expect(standings.count == 2 && standings.values.allSatisfy { $0.isDead && $0.isOver && !$0.isTaken })
        #expect(
            try reading.ask([(a, "three"), (b, "four"), ("nobody", "five")], by: "anna", user: 1).map { $0 != nil }
                == [false, true, false])
        #expect(try server.ask("SELECT line FROM requests", in: place) == ["four"])
        _ = try server.ask("UPDATE requests SET at = at - interval '2 minutes'", in: place)
        #expect(try second.takeRequests().isEmpty)
        _ = try server.ask("UPDATE requests SET at = at - interval '9 minutes'", in: place)
        #expect(try reading.ask([], by: "anna", user: 1).isEmpty)
        #expect(try server.ask("SELECT line FROM requests", in: place).isEmpty)
    }

    @Test("Whose a job is, is known as long as it is not over")
    func holders() throws {
        let (first, second) = (try open("a"), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        let jobs = [try JournalSamples.job(1), try JournalSamples.job(2), try JournalSamples.job(3, state: .processed)]
        try first.write([jobs[0], jobs[2]], pipelines: [])
        try second.write([jobs[1]], pipelines: [])
        let reading = try PostgresJournal.open(reading: place)
        defer { reading.close() }
        #expect(
            try reading.holders(of: jobs.map(\.id)) == [
                jobs[0].id: first.incarnationID, jobs[1].id: second.incarnationID,
            ])
        #expect(try reading.holders(of: []).isEmpty)
    }
}

extension Timestamp {
    fileprivate func advanced(by time: Duration) -> Timestamp {
        Timestamp(nanoseconds: nanoseconds + time.nanoseconds)
    }
}

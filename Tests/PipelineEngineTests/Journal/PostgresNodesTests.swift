import Dispatch
import Files
import PipelineKit
import Synchronization
import TestSupport
import Testing

@testable import Journal
@testable import PostgresJournal

/// Where a shared journal is, and who may be a node.
@Suite("Nodes of a journal", .enabled(if: PostgresServer.isPossible, "needs postgresql"), .timeLimit(.minutes(5)))
struct PostgresNodesTests {
    private let server: PostgresServer
    private let place: String

    init() throws {
        server = try PostgresServer.shared.get()
        place = try server.schema()
    }

    @Test(
        "What is secret in a place is known however it is written",
        arguments: [
            ("postgresql://anna:secret@db/mill", true), ("postgresql://anna:%73ecret@db/mill", true),
            ("postgresql://db/mill?password=x", true), ("postgresql://db/mill?pass%77ord=x", true),
            ("host=db password='a b'", true), ("sslpassword=x", true), ("postgresql://anna@db/mill", false),
            ("postgresql://anna:@db/mill", false), ("host=db passfile=/x", false), ("service=mill", false),
        ])
    func secrets(words: String, hasSecret: Bool) throws {
        #expect(try PostgresPlace(words).hasSecret == hasSecret)
    }

    @Test(
        "Nothing of a password is told where it is written wrongly",
        arguments: [
            "postgresql://me:top@secret@db/mill", "postgresql://me:top/secret@db/mill",
            "host=db password=top secret", "host=db passwd=topsecret", "postgresql://me:top%zzsecret@db/mill",
        ])
    func brokenSecrets(words: String) throws {
        let error = #expect(throws: JournalError.self) { try PostgresPlace.of(words) }
        #expect(error?.kind == .newer && error?.message.contains("secret") == false, "\(error?.message ?? "")")
    }

    @Test(
        "What is told of a place leads there where it is pasted",
        arguments: [
            ("dbname=mill", "postgresql:///mill"), ("host=/run/pg dbname=mill", "postgresql:///mill?host=/run/pg"),
            ("host=db-1.example port=5433 user=anna password=x", "postgresql://anna@db-1.example:5433/"),
            ("host=a,b port=1,2 dbname=m", "postgresql:///m?host=a,b&port=1,2"),
            (
                "hostaddr=::1 dbname='é / b' options='-csearch_path=x -cjit=on' user=a@b",
                "postgresql://a%40b@/%c3%a9%20/%20b?hostaddr=::1&options=-csearch_path%3dx%20-cjit%3don"
            ),
        ])
    func texts(words: String, text: String) throws {
        #expect(try PostgresPlace(words).text == text)
        #expect(try PostgresPlace(text).text == text)
    }

    @Test("What is on record of folders: who has one, whose id it bears, and what was lost with it")
    func folders() throws {
        let journal = try PostgresJournal.open(place, as: Incarnation(of: "own", version: "1"))
        defer { journal.close() }
        func job(_ number: Int, _ state: JobRecord.State, in folder: Int? = nil) throws -> JobRecord {
            var job = try JournalSamples.job(number, state: state)
            job.slot = try folder.map { try JournalSamples.id($0) }
            return job
        }
        let jobs = try [
            job(1, .queued), job(2, .settling, in: 12), job(3, .processed), job(4, .processed, in: 14),
            job(5, .lost, in: 15), job(6, .lost, in: 15), job(7, .lost),
        ]
        _ = try journal.write(jobs, intending: [], pipelines: [])
        let ids = try Array(1...20).map { try JournalSamples.id($0) }
        func folders(_ numbers: Int...) -> Set<JobID> { Set(numbers.map { ids[$0 - 1] }) }
        let all = try journal.records(of: ids)
        #expect(all.held == folders(1, 2, 12))
        #expect(all.used == folders(1, 2, 12, 3, 4, 5, 6, 7))
        #expect(all.lost.mapValues(\.id) == [ids[14]: ids[5], ids[6]: ids[6]])
        let one = try journal.records(of: [ids[14]])
        #expect(one.held.isEmpty && one.used.isEmpty && one.lost[ids[14]]?.id == ids[5])
        #expect(all.only(ids[2]).used == folders(3) && all.only(ids[14]).lost.count == 1)
    }

    @Test("What a verb says of a lost server ends with what people can do; who runs also connects again")
    func lost() throws {
        let error = JournalError(.lost("no file; Is it there?"), "open", try PostgresPlace("dbname=mill"))
        #expect(
            error.message
                == "Cannot open the journal 'postgresql:///mill': no file; Is it there? Check the server and the "
                + "network.")
        #expect(error.remedy == "Check the server and the network; Dropmill connects again by itself.")
    }

    @Test("Who connects to another machine and does not insist on TLS is warned")
    func routes() throws {
        for (words, mode) in [
            ("hostaddr=192.0.2.1", "prefer"), ("hostaddr=127.0.0.1,192.0.2.1 sslmode=disable", "disable"),
            ("postgresql://192.0.2.1/mill?sslmode=allow", "allow"),
        ] {
            let warning = try PostgresPlace(words).warning
            #expect(warning?.contains("'192.0.2.1' is on another machine, and 'sslmode' is '\(mode)'") ?? false)
        }
        for words in [
            "hostaddr=192.0.2.1 sslmode=require", "hostaddr=192.0.2.1 sslmode=verify-full", "host=/run/postgresql",
            "hostaddr=127.0.0.1 sslmode=disable", "hostaddr=::1", "service=none-such", "dbname=mill",
        ] {
            #expect(try PostgresPlace(words).warning == nil, "\(words)")
        }
        #expect(!PostgresPlace.isLocal("127.example.org") && PostgresPlace.isLocal("localhost"))
    }

    @Test("Of two nodes of one name the first stays, until its lease is over")
    func twins() throws {
        @Sendable func store(_ lease: Duration = .seconds(30)) -> PostgresStore {
            PostgresStore(place) { @Sendable in Incarnation(of: "a", version: "1", lease: lease) }
        }
        let first = try #require(try store().open(durable: true, checking: true) as? PostgresJournal)
        defer { first.close() }
        let twin = #expect(throws: JournalError.self) { try store().open(durable: true, checking: true) }
        #expect(twin?.kind == .environment)
        #expect(
            twin?.message.contains(
                /A node 'a' is alive already, on the host '.+' since \d{4}-.*--node/)
                ?? false, "\(twin?.message ?? "")")
        #expect(try first.renew() && first.nodes().filter(\.isAlive).count == 1)
        let waiting = try PostgresJournal.open(place, as: Incarnation(of: "a", version: "1"))
        #expect(try first.nodes().filter(\.isAlive).map(\.incarnation) == [first.incarnationID])
        #expect(try first.nodes().filter(\.isWaiting).map(\.incarnation) == [waiting.incarnationID])
        try waiting.leave()
        waiting.close()
        _ = try server.ask("UPDATE nodes SET lease_until = clock_timestamp() - interval '1s'", in: place)
        try store().open(durable: true, checking: true).close()
        // At once each waits for the other's end, and one of them is there.
        let opened = Mutex<[any EngineJournal]>([])
        _ = try server.ask("DELETE FROM nodes", in: place)
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            guard let journal = try? store().open(durable: true, checking: true) else { return }
            opened.withLock { $0.append(journal) }
        }
        let journals = opened.withLock { $0 }
        #expect(journals.count == 1)
        for journal in journals { journal.close() }
    }
}

import Dispatch
import Files
import Glibc
import Journal
import SQLiteJournal
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand

/// Who may do what, and what is put on record of it.
@Suite(.timeLimit(.minutes(5))) struct ControlTableTests {
    private enum ChangeVerb: ControlVerb {
        static let name = "change"
        static let isChange = true

        struct Arguments: Codable { var to: Int }

        static func result(_ answer: Int) -> String { "is \(answer)" }
        typealias Answer = Int
    }

    private enum LookVerb: ControlVerb {
        static let name = "look"
        typealias Arguments = Nothing
        typealias Answer = Int
    }

    private let scratch: ScratchFolder
    private let journal: SQLiteJournal

    init() throws {
        scratch = try ScratchFolder()
        journal = try SQLiteJournal.open(writing: scratch.path, durable: false, checking: false)
    }

    private func table(_ access: ControlAccess = ControlAccess()) -> ControlTable {
        let handlers = [
            ControlHandler(
                ChangeVerb.self,
                blocking: { @Sendable arguments, _ throws(ControlProblem) in
                    guard arguments.to > 0 else { throw ControlProblem("it is too small") }
                    return arguments.to
                }),
            ControlHandler(LookVerb.self) { @Sendable _, _, reply in reply(.success(7)) },
        ]
        return ControlTable(
            handlers, access: access, record: ControlRecord(trail: { @Sendable [journal] in journal }, warn: { _ in }))
    }

    private func ask(_ table: ControlTable, _ verb: String, _ arguments: String, as peer: ControlPeer) async -> String {
        let line = Array(#"{"version":2,"id":5,"verb":"\#(verb)","arguments":\#(arguments)}"#.utf8)
        return await withCheckedContinuation { answered in
            table.serve(line, from: peer) { @Sendable bytes, _ in
                answered.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    @Test func changesAreOnRecordWithTheirResults() async throws {
        let table = table()
        let own = ControlPeer(user: geteuid())
        #expect(await ask(table, "change", #"{"to":3}"#, as: own).contains(#""answer":3"#))
        #expect(await ask(table, "change", #"{"to":0}"#, as: own).contains("it is too small"))
        #expect(await ask(table, "look", "{}", as: own).contains(#""answer":7"#))
        let entries = try journal.audit(since: nil, limit: 10)
        #expect(entries.map(\.verb) == ["change", "change"])
        #expect(entries.map(\.arguments) == [#"{"to":0}"#, #"{"to":3}"#])
        #expect(entries.map(\.result) == ["refused: it is too small", "is 3"])
        #expect(entries.allSatisfy { $0.user == geteuid() && $0.name == own.name })
        #expect(try journal.audit(since: .now(), limit: 10).isEmpty)
        _ = try journal.prune(finishedBefore: .now())
        #expect(try journal.audit(since: nil, limit: 10).isEmpty)
    }

    @Test func onlyThoseWhoMayAreServed() async throws {
        let stranger = ControlPeer(user: 4711, groups: [815])
        let own = ControlAccess(owner: 4712)
        #expect(await ask(table(own), "look", "{}", as: stranger).contains("its own user and root only"))
        #expect(await ask(table(own), "look", "{}", as: ControlPeer(user: 4712)).contains(#""answer":7"#))
        #expect(await ask(table(own), "change", #"{"to":1}"#, as: ControlPeer(user: 0)).contains(#""answer":1"#))
        let reading = ControlAccess(owner: 4712, group: 815)
        #expect(await ask(table(reading), "look", "{}", as: stranger).contains(#""answer":7"#))
        #expect(await ask(table(reading), "change", #"{"to":1}"#, as: stranger).contains("may look, not change"))
        let other = ControlPeer(user: 4711, groups: [816])
        #expect(
            await ask(table(reading), "look", "{}", as: other).contains(
                "its own user, root and members of the group 815 only"))
        let changing = ControlAccess(owner: 4712, group: 815, groupMayChange: true)
        #expect(await ask(table(changing), "change", #"{"to":1}"#, as: stranger).contains(#""answer":1"#))
        #expect(try journal.audit(since: nil, limit: 10).map(\.user) == [4711, 0], "refused ones change nothing")
    }

    @Test func theAnswerToAChangeDoesNotWaitForTheNext() async throws {
        let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let answers = Mutex(0)
        let handler = ControlHandler(
            ChangeVerb.self,
            blocking: { @Sendable arguments, _ throws(ControlProblem) in
                (arguments.to == 1 ? first : second).wait()
                return arguments.to
            })
        let table = ControlTable(
            [handler], record: ControlRecord(trail: { @Sendable [journal] in journal }, warn: { _ in }))
        for number in 1...2 {
            let line = Array(#"{"version":2,"id":5,"verb":"change","arguments":{"to":\#(number)}}"#.utf8)
            table.serve(line, from: ControlPeer(user: geteuid())) { @Sendable _, _ in answers.withLock { $0 += 1 } }
        }
        first.signal()
        #expect(await eventually { answers.withLock { $0 } == 1 })
        #expect(try journal.audit(since: nil, limit: 10).last?.result == "is 1")
        second.signal()
        #expect(await eventually { answers.withLock { $0 } == 2 })
    }

    @Test func aChangeIsMadeAlsoWhereItCannotBePutOnRecord() async throws {
        let warned = Mutex<[String]>([])
        let handler = ControlHandler(
            ChangeVerb.self, blocking: { @Sendable arguments, _ throws(ControlProblem) in arguments.to })
        journal.close()
        let record = ControlRecord(
            trail: { @Sendable [journal] in journal }, warn: { @Sendable text in warned.withLock { $0.append(text) } })
        let said = await ask(
            ControlTable([handler], record: record), "change", #"{"to":3}"#, as: ControlPeer(user: geteuid()))
        #expect(said.contains(#""answer":3"#))
        #expect(warned.withLock { $0.first?.hasPrefix("a change cannot be put on record: ") ?? false })
    }
}

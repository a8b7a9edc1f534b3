import Dispatch
import Files
import Glibc
import Journal
import SQLiteJournal
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Control
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
        #expect(try journal.removeNotes(content: .now(), others: .now(), limit: 10) == 2)
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
        #expect(try await eventually { try journal.audit(since: nil, limit: 10).count == 5 })
        let entries = try journal.audit(since: nil, limit: 10)
        #expect(entries.filter { $0.result == "is 1" }.map(\.user) == [4711, 0], "refused ones change nothing")
        let refused = entries.filter { $0.result?.hasPrefix("refused: ") ?? false }
        #expect(refused.allSatisfy { $0.user == 4711 } && Set(refused.map(\.verb)) == ["look", "change"])
        #expect(refused.contains { $0.arguments == #"{"to":1}"# })
    }

    @Test func whoMayWriteToASharedJournalMayAskItsNodes() async throws {
        let anna = ControlPeer(NodeRequest(number: 1, line: "", by: "anna", user: 4711))
        let table = table(ControlAccess(owner: 4712))
        #expect(await ask(table, "change", #"{"to":1}"#, as: anna).contains(#""answer":1"#))
        let entry = try #require(try journal.audit(since: nil, limit: 1).first)
        #expect(entry.user == 4711 && entry.name == "anna" && entry.result == "is 1")
    }

    @Test func forWhomSomethingIsAskedIsOnRecord() async throws {
        let reading = ControlAccess(owner: 4712, group: 815)
        let table = table(reading)
        func ask(_ verb: String, _ behalf: String, as peer: ControlPeer) async -> String {
            await self.ask(table, verb, #"{"to":1},"for":\#(behalf)"#, as: peer)
        }
        let web = ControlPeer(user: 4712)
        let anna = #"{"name":"anna-laptop","role":"operate","address":"10.2.0.14"}"#
        #expect(await ask("change", anna, as: web).contains(#""answer":1"#))
        let entry = try #require(try journal.audit(since: nil, limit: 1).first)
        #expect(entry.user == 4712 && entry.name == web.account)
        #expect(entry.behalf == Behalf(name: "anna-laptop", role: "operate", address: "10.2.0.14"))
        // Who may only look may look for itself alone.
        let reader = ControlPeer(user: 4711, groups: [815])
        #expect(await ask("look", anna, as: reader).contains("may look, not change"))
        #expect(try await eventually { try journal.audit(since: nil, limit: 1).first?.user == 4711 })
        #expect(try journal.audit(since: nil, limit: 1).first?.behalf == nil)
        let long = String(repeating: "x", count: 65)
        for (behalf, fault) in [
            (#"{"name":"","role":"","address":""}"#, "'for.name' must not be empty"),
            (#"{"name":"\#(long)","role":"","address":""}"#, "'for.name' must be printable, and have 64 bytes"),
            (#"{"name":"a","role":"","address":"\u202e"}"#, "'for.address' must be printable"),
            (#"{"name":"a"}"#, "malformed request"), (#""anna""#, "malformed request"),
        ] {
            #expect(await ask("change", behalf, as: web).contains(fault), "\(behalf)")
        }
        #expect(try journal.audit(since: nil, limit: 10).count == 2)
    }

    @Test func whatAnotherProgramRefusedIsOnRecordButDoesNotFillIt() async throws {
        let table = table()
        let own = ControlPeer(user: geteuid())
        let long = String(repeating: "y", count: 2000)
        func refuse(_ verb: String, _ text: String) async -> String {
            let wish = #"{"verb":"\#(verb)","arguments":"{\"jobs\":[\"\#(long)\"]}","text":"\#(text)"}"#
            return await ask(
                table, "refused", wish + #","for":{"name":"eve","role":"look","address":"::1"}"#, as: own)
        }
        #expect(await refuse("cancel", "its role is look\\u001b").contains(#""recorded":true"#))
        let entry = try #require(try journal.audit(since: nil, limit: 1).first)
        #expect(entry.verb == "cancel" && entry.result == #"refused: its role is look\x1B"#, "\(entry)")
        #expect(entry.behalf?.name == "eve" && entry.arguments.utf8.count <= 1024)
        for _ in 0..<100 { _ = await refuse(long, long) }
        #expect(await refuse("cancel", "no").contains(#""recorded":false"#))
        let all = try journal.audit(since: nil, limit: 200)
        #expect(all.count == RefusalBudget.most && all.allSatisfy { $0.verb.count <= 32 })
        #expect(all.allSatisfy { ($0.result?.count ?? 0) < 500 })
    }

    @Test func refusalsComeBackOneAfterAnother() {
        var budget = RefusalBudget()
        var now = MonotonicTime(nanoseconds: 5)
        for _ in 0..<RefusalBudget.most { #expect(budget.admit(at: now) == 0) }
        for _ in 0..<7 { #expect(budget.admit(at: now) == nil) }
        now = now + RefusalBudget.pause
        #expect(budget.admit(at: now) == 7 && budget.admit(at: now) == nil)
        now = now + .seconds(1_000_000_000)
        for _ in 0..<RefusalBudget.most { #expect(budget.admit(at: now) != nil) }
        #expect(budget.admit(at: now) == nil)
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

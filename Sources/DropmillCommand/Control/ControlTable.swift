import Control
@preconcurrency import Dispatch
import Files
import Journal
import Synchronization

/// What a daemon answers, and to whom. Changes are made one after another, each on record before it is made.
final class ControlTable: Sendable {
    private let handlers: [String: ControlHandler]
    private let allowed: Mutex<ControlAccess>
    var access: ControlAccess { allowed.withLock { $0 } }
    private let record: ControlRecord?
    /// Called when a change was made, before it is answered.
    private let changed: @Sendable () -> Void
    private let refusals: RefusalLog?
    /// What waits for disks waits here.
    private let changes = DispatchQueue(label: "dropmill.control.changes")
    /// Their ends go on record here: no answer waits for the changes behind its own.
    private let ends = DispatchQueue(label: "dropmill.control.ends")
    private let questions = DispatchQueue(label: "dropmill.control.questions")

    init(
        _ handlers: [ControlHandler], access: ControlAccess = ControlAccess(), record: ControlRecord? = nil,
        changed: @escaping @Sendable () -> Void = {}
    ) {
        refusals = record.map { RefusalLog($0) }
        let all = handlers + [Self.refused(refusals)]
        self.handlers = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
        allowed = Mutex(access)
        self.record = record
        self.changed = changed
    }

    /// What other programs refused.
    private static func refused(_ log: RefusalLog?) -> ControlHandler {
        ControlHandler(unrecorded: RefusedVerb.self) { @Sendable arguments, peer throws(ControlProblem) in
            let isRecorded = log?.note(
                arguments.verb, { EscapedText.printable(arguments.arguments) }, by: peer, because: arguments.text)
            return .init(recorded: isRecorded ?? false)
        }
    }

    /// Answers others from now on.
    func admit(_ access: ControlAccess) { allowed.withLock { $0 = access } }

    /// Serves one line; `reply` is called once, on any queue. `isLast`: nothing more is heard of this client. `tie`:
    /// what lines before it have left with the connection.
    func serve(
        _ line: [UInt8], from peer: ControlPeer, tie: ControlTie = ControlTie(),
        reply: @escaping @Sendable (_ answer: [UInt8], _ isLast: Bool) -> Void
    ) {
        let header = ControlLine.message(ControlHeader.self, of: line)
        guard let header, header.isReadable, let id = header.id, let verb = header.verb else {
            let fault = header?.fault ?? ControlProblem("malformed request")
            return reply(ControlLine.bytes(of: ControlReply<Nothing>(header?.id, fault)), true)
        }
        var peer = peer
        peer.behalf = header.for
        let call = ControlHandler.Call(id: id, line: line, peer: peer, tie: tie) { @Sendable in reply($0, false) }
        // Whoever may change nothing may not say who would.
        let isChange = handlers[verb]?.isChange ?? false || header.for != nil
        if let refusal = access.refusal(of: peer, isChange: isChange) {
            peer.behalf = nil
            note(refusal, verb, line, peer)
            return call.fail(refusal)
        }
        if let fault = header.for?.fault { return call.fail(ControlProblem(fault)) }
        guard let handler = handlers[verb] else {
            return call.fail(ControlProblem("it does not know '\(EscapedText.of(verb))'; it may be an older version"))
        }
        if handler.isChange {
            changes.async { @Sendable [self] in handler.serve(call) { begin(handler.name, $0, call.peer) } }
        } else if handler.blocks {
            questions.async { @Sendable in handler.serve(call) { _ in { _, reply in reply() } } }
        } else {
            handler.serve(call) { _ in { _, reply in reply() } }
        }
    }

    /// Records that a request was refused for want of rights.
    private func note(_ refusal: ControlProblem, _ verb: String, _ line: [UInt8], _ peer: ControlPeer) {
        guard let refusals else { return }
        ends.async { @Sendable in
            let arguments = {
                ControlLine.message(ControlRequest<JSONValue>.self, of: line).map { ControlLine.text(of: $0.arguments) }
                    ?? "{}"
            }
            _ = refusals.note(verb, arguments, by: peer, because: refusal.message)
        }
    }

    private func begin(_ verb: String, _ arguments: String, _ peer: ControlPeer) -> ControlHandler.End {
        let number = record?.begin(
            AuditEntry(
                user: peer.user, name: peer.account, verb: verb, arguments: arguments, behalf: peer.behalf))
        return { @Sendable [ends, record, changed] result, reply in
            changed()
            guard let record else { return reply() }
            ends.async { @Sendable in
                record.end(number, result)
                reply()
            }
        }
    }
}

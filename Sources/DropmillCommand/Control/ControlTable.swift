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
    /// What waits for disks waits here.
    private let changes = DispatchQueue(label: "dropmill.control.changes")
    /// Their ends go on record here: no answer waits for the changes behind its own.
    private let ends = DispatchQueue(label: "dropmill.control.ends")
    private let questions = DispatchQueue(label: "dropmill.control.questions")

    init(_ handlers: [ControlHandler], access: ControlAccess = ControlAccess(), record: ControlRecord? = nil) {
        self.handlers = Dictionary(handlers.map { ($0.name, $0) }) { first, _ in first }
        allowed = Mutex(access)
        self.record = record
    }

    /// Answers others from now on.
    func admit(_ access: ControlAccess) { allowed.withLock { $0 = access } }

    /// Serves one line; `reply` is called once, on any queue. `isLast`: nothing more is heard of this client.
    func serve(
        _ line: [UInt8], from peer: ControlPeer, reply: @escaping @Sendable (_ answer: [UInt8], _ isLast: Bool) -> Void
    ) {
        let header = ControlLine.message(ControlHeader.self, of: line)
        guard let header, header.isReadable, let id = header.id, let verb = header.verb else {
            let fault = header?.fault ?? ControlProblem("malformed request")
            return reply(ControlLine.bytes(of: ControlReply<Nothing>(header?.id, fault)), true)
        }
        let call = ControlHandler.Call(id: id, line: line, peer: peer) { @Sendable in reply($0, false) }
        if let refusal = access.refusal(of: peer, isChange: handlers[verb]?.isChange ?? false) {
            return call.fail(refusal)
        }
        guard let handler = handlers[verb] else {
            return call.fail(ControlProblem("it does not know '\(EscapedText.of(verb))'; it may be an older version"))
        }
        if handler.isChange {
            changes.async { @Sendable [self] in handler.serve(call) { begin(handler.name, $0, peer) } }
        } else if handler.blocks {
            questions.async { @Sendable in handler.serve(call) { _ in { _, reply in reply() } } }
        } else {
            handler.serve(call) { _ in { _, reply in reply() } }
        }
    }

    private func begin(_ verb: String, _ arguments: String, _ peer: ControlPeer) -> ControlHandler.End {
        guard let record else { return { _, reply in reply() } }
        let number = record.begin(
            AuditEntry(user: peer.user, name: peer.name, verb: verb, arguments: arguments))
        return { @Sendable [ends] result, reply in
            ends.async { @Sendable in
                record.end(number, result)
                reply()
            }
        }
    }
}

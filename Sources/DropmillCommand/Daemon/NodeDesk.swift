import Control
@preconcurrency import Dispatch
import Files
import Journal

/// Does what is asked of this node by way of the journal that it shares, as its control socket would.
final class NodeDesk: Sendable {
    private let journal: any SharedJournal
    private let table: ControlTable
    private let queue: DispatchQueue
    private let timer: any DispatchSourceTimer
    private let bell: Bell

    /// How often it looks where it hears of nothing: people wait.
    private static let interval = Duration.seconds(1)

    /// What there is to be asked of one node by another host: nothing that goes on over a connection.
    private static let verbs: Set<String> = [
        CancelVerb.name, ReleaseVerb.name, PreviewVerb.name, BumpVerb.name, ReloadVerb.name, RunsVerb.name,
        HaltVerb.name,
    ]

    init(_ journal: any SharedJournal, _ table: ControlTable) {
        (self.journal, self.table) = (journal, table)
        let queue = DispatchQueue(label: "dropmill.requests")
        self.queue = queue
        let bell = Bell(on: queue) { @Sendable in
            // As long as the journal does not answer nobody asks, either.
            guard let requests = try? journal.takeRequests() else { return }
            for request in requests { Self.serve(request, table, journal, queue) }
        }
        self.bell = bell
        timer = queue.every(Self.interval, leeway: .milliseconds(100)) { @Sendable in bell.ring() }
        journal.hear { @Sendable [weak self] hint in if hint == .requests { self?.bell.ring() } }
    }

    /// Takes no more.
    func close(_ done: @escaping @Sendable () -> Void) {
        timer.cancel()
        bell.silence()
        queue.async(execute: done)
    }

    private static func serve(
        _ request: NodeRequest, _ table: ControlTable, _ journal: any SharedJournal, _ queue: DispatchQueue
    ) {
        // Who asked says that there was none.
        let reply = { @Sendable (answer: [UInt8]) in
            queue.async { @Sendable in
                try? journal.answer(request.number, with: String(decoding: answer, as: UTF8.self))
            }
        }
        let line = Array(request.line.utf8)
        guard let verb = ControlLine.message(ControlHeader.self, of: line)?.verb, verbs.contains(verb) else {
            let problem = ControlProblem("it does not do that for other hosts; it may be of an older version")
            return reply(ControlLine.bytes(of: ControlReply<Nothing>(nil, problem)))
        }
        table.serve(line, from: ControlPeer(request)) { @Sendable answer, _ in reply(answer) }
    }
}

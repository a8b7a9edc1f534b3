import Control
import PipelineEngine

extension ControlService {
    static func sending(_ queue: SendingQueue) -> [ControlHandler] {
        [
            begin(RetryVerb.self, .retry, queue), begin(ReplayVerb.self, .replay, queue),
            begin(CancelAllVerb.self, .cancel, queue), begin(DismissVerb.self, .dismiss, queue),
            ControlHandler(SendableVerb.self) { @Sendable arguments, peer, reply in
                reply(
                    Result { () throws(ControlProblem) in
                        try queue.begin(arguments.verb, arguments.order, by: peer, isDry: true) { _, reply in reply() }
                    })
            },
            ControlHandler(SendingVerb.self) { @Sendable arguments, _, reply in
                queue.board.follow(arguments, reply: reply)
            },
            ControlHandler(RunsVerb.self) { @Sendable _, _, reply in
                reply(.success(.init(runs: queue.board.underWay)))
            },
            ControlHandler(HaltVerb.self) { @Sendable arguments, _, reply in
                guard queue.board.has(arguments.run) else { return reply(.failure(SendingBoard.unknown)) }
                queue.halt(arguments.run)
                reply(.success(Nothing()))
            },
        ]
    }

    private static func begin<Verb: ControlVerb>(
        _ verb: Verb.Type, _ kind: SendingOrder.Kind, _ queue: SendingQueue
    ) -> ControlHandler where Verb.Arguments == SendingOrder, Verb.Answer == SendingVerb.Answer {
        ControlHandler(
            verb,
            lasting: { @Sendable order, peer, end throws(ControlProblem) in
                try queue.begin(kind, order, by: peer, end: end)
            })
    }
}

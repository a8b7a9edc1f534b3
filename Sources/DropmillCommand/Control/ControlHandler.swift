import Control

/// The daemon's side of one verb.
struct ControlHandler: Sendable {
    /// A request that came, and the way back.
    struct Call: Sendable {
        let id: UInt64
        let line: [UInt8]
        let peer: ControlPeer
        /// What is left with the connection that it came on.
        let tie: ControlTie
        /// Sends a line, on any queue.
        let reply: @Sendable ([UInt8]) -> Void

        func fail(_ problem: ControlProblem) { reply(ControlLine.bytes(of: ControlReply<Nothing>(id, problem))) }
    }

    /// A call's arguments as they are put on record, and what is to be called with its result.
    typealias Begin = @Sendable (_ arguments: String) -> End
    typealias End = @Sendable (_ result: String, _ reply: @escaping @Sendable () -> Void) -> Void

    let name: String
    let isChange: Bool
    /// Whether it may wait for something.
    let blocks: Bool
    private(set) var serve: @Sendable (Call, Begin) -> Void

    /// `answer` does not block, and calls back once, on any queue. `isRecorded`: whether a change is put on record.
    init<Verb: ControlVerb>(
        _ verb: Verb.Type, blocks: Bool = false,
        isRecorded: @escaping @Sendable (Verb.Arguments) -> Bool = { @Sendable _ in true },
        answer:
            @escaping @Sendable (
                Verb.Arguments, ControlPeer, @escaping @Sendable (Result<Verb.Answer, ControlProblem>) -> Void
            ) -> Void
    ) {
        name = verb.name
        isChange = verb.isChange
        self.blocks = blocks
        serve = { @Sendable call, begin in
            guard let arguments = Self.arguments(of: verb, in: call) else { return }
            let off: End = { @Sendable _, reply in reply() }
            let end = isRecorded(arguments) ? begin(ControlLine.text(of: arguments)) : off
            answer(arguments, call.peer) { @Sendable answered in
                end(verb.result(answered)) {
                    switch answered {
                    case .success(let answer): call.reply(ControlLine.bytes(of: ControlReply(call.id, answer)))
                    case .failure(let problem): call.fail(problem)
                    }
                }
            }
        }
    }

    /// One that may block.
    init<Verb: ControlVerb>(
        _ verb: Verb.Type,
        blocking answer: @escaping @Sendable (Verb.Arguments, ControlPeer) throws(ControlProblem) -> Verb.Answer
    ) {
        self.init(verb, blocks: true) { @Sendable arguments, peer, reply in
            do throws(ControlProblem) {
                reply(.success(try answer(arguments, peer)))
            } catch {
                reply(.failure(error))
            }
        }
    }

    /// A change that puts itself on record. It may block.
    init<Verb: ControlVerb>(
        unrecorded verb: Verb.Type,
        answer: @escaping @Sendable (Verb.Arguments, ControlPeer) throws(ControlProblem) -> Verb.Answer
    ) {
        self.init(verb, blocking: answer)
        let serve = serve
        self.serve = { @Sendable call, _ in serve(call) { _ in { _, reply in reply() } } }
    }

    /// One that goes on when it has answered, and calls `end` once it is over.
    init<Verb: ControlVerb>(
        _ verb: Verb.Type,
        lasting answer:
            @escaping @Sendable (Verb.Arguments, ControlPeer, @escaping End) throws(ControlProblem) -> Verb.Answer
    ) {
        name = verb.name
        isChange = verb.isChange
        blocks = false
        serve = { @Sendable call, begin in
            guard let arguments = Self.arguments(of: verb, in: call) else { return }
            let end = begin(ControlLine.text(of: arguments))
            do throws(ControlProblem) {
                let answer = try answer(arguments, call.peer, end)
                call.reply(ControlLine.bytes(of: ControlReply(call.id, answer)))
            } catch {
                end(verb.result(.failure(error))) { [error] in call.fail(error) }
            }
        }
    }

    /// One about what is left with its connection. `answer` does not block, and calls back once, on any queue; it calls
    /// `end` once, when what was asked for is over.
    init<Verb: ControlVerb>(
        _ verb: Verb.Type,
        tied answer:
            @escaping @Sendable (
                Verb.Arguments, ControlTie, @escaping End,
                @escaping @Sendable (Result<Verb.Answer, ControlProblem>) -> Void
            ) -> Void
    ) {
        name = verb.name
        isChange = verb.isChange
        blocks = false
        serve = { @Sendable call, begin in
            guard let arguments = Self.arguments(of: verb, in: call) else { return }
            answer(arguments, call.tie, begin(ControlLine.text(of: arguments))) { @Sendable answered in
                switch answered {
                case .success(let answer): call.reply(ControlLine.bytes(of: ControlReply(call.id, answer)))
                case .failure(let problem): call.fail(problem)
                }
            }
        }
    }

    /// Nil where they make no sense, which is said.
    private static func arguments<Verb: ControlVerb>(of verb: Verb.Type, in call: Call) -> Verb.Arguments? {
        let request = ControlLine.message(ControlRequest<Verb.Arguments>.self, of: call.line)
        if request == nil {
            let fault = ControlLine.fault(ControlRequest<Verb.Arguments>.self, of: call.line) ?? ""
            call.fail(
                ControlProblem("malformed request: these are not the arguments of '\(verb.name)': \(fault)"))
        }
        return request?.arguments
    }
}

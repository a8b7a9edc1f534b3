import Control
@preconcurrency import Dispatch
import Files
import Synchronization

/// What runs over many jobs have done, for those who follow them. One that is over is kept for a minute.
final class SendingBoard: Sendable {
    typealias Answer = SendingVerb.Answer

    /// How many results one answer has.
    fileprivate static let most = 1000
    private static let memory = Duration.seconds(60)
    static let unknown = ControlProblem("it has no such run, or not any more; 'dropmill audit' says what came of it")

    private struct Follower {
        let run: String
        let after: Int
        let reply: @Sendable (Answer) -> Void
    }

    private struct State {
        var runs: [String: Answer] = [:]
        var kinds: [String: SendingOrder.Kind] = [:]
        var followers: [UInt64: Follower] = [:]
        var lastFollower: UInt64 = 0

        /// Takes those out to whom there is something to be said.
        mutating func take(of run: String) -> [(Follower, Answer)] {
            guard let all = runs[run] else { return [] }
            return followers.filter { $0.value.run == run }.compactMap { number, follower in
                let answer = all.following(follower.after)
                guard !answer.results.isEmpty || answer.isOver else { return nil }
                followers[number] = nil
                return (follower, answer)
            }
        }
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "dropmill.sending.followers")

    /// A new run, of which nothing is known. `kind`: nil for one that does nothing.
    func begin(_ kind: SendingOrder.Kind?) -> Answer {
        state.withLock { state in
            var answer = Answer(run: "")
            repeat {
                answer.run = String(UInt32.random(in: 0x100000...0xffffff), radix: 16)
            } while state.runs[answer.run] != nil
            state.runs[answer.run] = answer
            state.kinds[answer.run] = kind
            return answer
        }
    }

    /// Those that are under way.
    var underWay: [RunsVerb.Run] {
        state.withLock { state in
            state.kinds.sorted { $0.key < $1.key }.compactMap { run, kind in
                guard let answer = state.runs[run], !answer.isOver else { return nil }
                return RunsVerb.Run(
                    run: run, verb: kind, jobs: answer.found?.jobs, left: answer.found == nil ? nil : answer.left)
            }
        }
    }

    /// Whether it is known.
    func has(_ run: String) -> Bool { state.withLock { $0.runs[run] != nil } }

    func note(_ run: String, _ change: (inout Answer) -> Void) {
        let (told, isOver) = state.withLock { state in
            if var answer = state.runs.removeValue(forKey: run) {
                change(&answer)
                state.runs[run] = answer
            }
            return (state.take(of: run), state.runs[run]?.isOver ?? false)
        }
        for (follower, answer) in told { follower.reply(answer) }
        guard isOver else { return }
        queue.after(Self.memory) { @Sendable [weak self] in
            self?.state.withLock { ($0.runs[run], $0.kinds[run]) = (nil, nil) }
        }
    }

    func follow(
        _ arguments: SendingVerb.Arguments, reply: @escaping @Sendable (Result<Answer, ControlProblem>) -> Void
    ) {
        let follower = Follower(run: arguments.run, after: arguments.after) { @Sendable in reply(.success($0)) }
        let (number, told, isKnown) = state.withLock { state in
            state.lastFollower += 1
            state.followers[state.lastFollower] = follower
            let isKnown = state.runs[follower.run] != nil
            if !isKnown { state.followers[state.lastFollower] = nil }
            return (state.lastFollower, state.take(of: follower.run), isKnown)
        }
        guard isKnown else { return reply(.failure(Self.unknown)) }
        for (follower, answer) in told { follower.reply(answer) }
        let wait = arguments.wait.map { Duration.seconds(min(max(0, $0), 60)) } ?? SendingVerb.longestWait
        queue.after(min(wait, SendingVerb.longestWait)) { @Sendable [weak self] in self?.tell(number) }
    }

    /// That there is nothing new.
    private func tell(_ number: UInt64) {
        let told = state.withLock { state in
            state.followers.removeValue(forKey: number).flatMap { follower in
                state.runs[follower.run].map { (follower, $0.following(follower.after)) }
            }
        }
        if let (follower, answer) = told { follower.reply(answer) }
    }
}

extension SendingVerb.Answer {
    /// The answer to a client that already has the first `count` results.
    fileprivate func following(_ count: Int) -> SendingVerb.Answer {
        let rest = results.dropFirst(max(0, count))
        var answer = self
        answer.results = Array(rest.prefix(SendingBoard.most))
        answer.isOver = isOver && answer.results.count == rest.count
        return answer
    }
}

import DequeModule
@preconcurrency import Dispatch
import PipelineKit
import SystemPackage

/// Answers questions about drops that take reading them, on queues of its own. An answer is kept as long as neither the
/// drop nor what is asked changes.
// @unchecked: every `var` below is touched on the queue of the intake (`owner`) only.
final class InboxReading<Question: Hashable & Sendable, Answer: Sendable>: @unchecked Sendable {
    /// Reads a drop in its folder.
    typealias Reader = @Sendable (Question, DropPath, borrowing OpenFile, Cancellation) throws -> Answer

    private struct Asked {
        let fingerprint: Fingerprint
        let question: Question
        let cancellation: Cancellation
        var isBegun = false
        var answer: Answer?
    }

    private var asked: [DropPath: Asked] = [:]
    /// Those whose turn has not come, and who has nothing to do.
    private var line = Deque<DropPath>()
    private var idle: [DispatchQueue]
    private let owner: DispatchQueue
    private let inbox: FilePath
    private let read: Reader
    private let failed: @Sendable (any Error) -> Answer
    /// Called on `owner` when there is an answer.
    var whenDone: @Sendable (DropPath) -> Void = { _ in }

    /// Questions about drops of an inbox, asked on `owner` and answered on queues of these labels, in their order.
    /// `failed`: the answer where there is none.
    init(
        in inbox: FilePath, on labels: [String], for owner: DispatchQueue,
        failed: @escaping @Sendable (any Error) -> Answer, read: @escaping Reader
    ) {
        self.inbox = inbox
        self.owner = owner
        self.failed = failed
        self.read = read
        idle = labels.map { DispatchQueue(label: $0) }
    }

    /// The answer for a drop in this state; nil while it is being read, which it is from now on.
    func answer(of key: DropPath, in state: Fingerprint, asking question: Question) -> Answer? {
        if let known = asked[key], known.fingerprint == state, known.question == question { return known.answer }
        forget(key)
        asked[key] = Asked(fingerprint: state, question: question, cancellation: Cancellation())
        line.append(key)
        goOn()
        return nil
    }

    /// Has those who are idle read what is next.
    private func goOn() {
        while !line.isEmpty, let queue = idle.popLast() {
            // What was forgotten meanwhile stands in line still, and so may one that is being read.
            guard let key = line.popFirst(), let next = asked[key], !next.isBegun else {
                idle.append(queue)
                continue
            }
            asked[key]?.isBegun = true
            let cancellation = next.cancellation
            queue.async { @Sendable [weak self, inbox, read, failed, owner, question = next.question] in
                let answer: Answer
                do {
                    answer = try read(question, key, try OpenInbox(inbox).open(key.folder).file, cancellation)
                } catch {
                    answer = failed(error)
                }
                owner.async { @Sendable [weak self] in
                    guard let self else { return }
                    idle.append(queue)
                    take(answer, of: key, cancellation)
                    goOn()
                }
            }
        }
    }

    /// The drop is gone, or taken.
    func forget(_ key: DropPath) { asked.removeValue(forKey: key)?.cancellation.cancel() }

    /// Calls everything off.
    func stop() {
        for one in asked.values { one.cancellation.cancel() }
        asked = [:]
        line = []
    }

    private func take(_ answer: Answer, of key: DropPath, _ cancellation: Cancellation) {
        guard asked[key]?.cancellation === cancellation else { return }
        asked[key]?.answer = answer
        whenDone(key)
    }
}

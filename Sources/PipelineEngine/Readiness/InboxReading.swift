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
        var answer: Answer?
    }

    private var asked: [DropPath: Asked] = [:]
    private let queues: [DispatchQueue]
    /// How much waits on each.
    private var loads: [Int]
    private let owner: DispatchQueue
    private let inbox: FilePath
    private let read: Reader
    private let failed: @Sendable (any Error) -> Answer
    /// Called on `owner` when there is an answer.
    var whenDone: @Sendable (DropPath) -> Void = { _ in }

    /// Questions about drops of an inbox, asked on `owner` and answered on queues of these labels, each time on the one
    /// that has least to do. `failed`: the answer where there is none.
    init(
        in inbox: FilePath, on labels: [String], for owner: DispatchQueue,
        failed: @escaping @Sendable (any Error) -> Answer, read: @escaping Reader
    ) {
        self.inbox = inbox
        self.owner = owner
        self.failed = failed
        self.read = read
        queues = labels.map { DispatchQueue(label: $0) }
        loads = labels.map { _ in 0 }
    }

    /// The answer for a drop in this state; nil while it is being read, which it is from now on.
    func answer(of key: DropPath, in state: Fingerprint, asking question: Question) -> Answer? {
        if let known = asked[key], known.fingerprint == state, known.question == question { return known.answer }
        forget(key)
        let cancellation = Cancellation()
        asked[key] = Asked(fingerprint: state, question: question, cancellation: cancellation)
        let place = loads.indices.min { loads[$0] < loads[$1] } ?? 0
        loads[place] += 1
        queues[place].async { @Sendable [weak self, inbox, read, failed, owner] in
            var answer: Answer?
            if !cancellation.isCancelled {
                do {
                    answer = try read(question, key, try OpenInbox(inbox).open(key.folder).file, cancellation)
                } catch {
                    answer = failed(error)
                }
            }
            owner.async { @Sendable [weak self, answer] in self?.take(answer, of: key, from: place, cancellation) }
        }
        return nil
    }

    /// The drop is gone, or taken.
    func forget(_ key: DropPath) { asked.removeValue(forKey: key)?.cancellation.cancel() }

    /// Calls everything off.
    func stop() {
        for one in asked.values { one.cancellation.cancel() }
        asked = [:]
    }

    private func take(_ answer: Answer?, of key: DropPath, from place: Int, _ cancellation: Cancellation) {
        loads[place] -= 1
        guard let answer, asked[key]?.cancellation === cancellation else { return }
        asked[key]?.answer = answer
        whenDone(key)
    }
}

import DequeModule
@preconcurrency import Dispatch
package import Files
import FolderWatch
import PipelineKit
import SystemPackage

/// Answers questions about drops that take reading them, on queues of its own. An answer is kept as long as neither the
/// drop nor what is asked changes, unless it may be another one later. What takes long or is asked again is read when
/// nothing else is, and where there are several queues never on all of them.
// @unchecked: every `var` below is touched on the queue of the intake (`owner`) only.
package final class InboxReading<Question: Hashable & Sendable, Answer: Sendable>: @unchecked Sendable {
    enum Reply: Sendable {
        case lasting(Answer)
        /// It may change later, so it is asked for again, each time after twice as many looks at the drop.
        case passing(Answer)
        /// A first reading was too short.
        case tooLong
    }

    /// Reads a drop in its folder. `isFirst`: it is not to take long.
    typealias Reader = @Sendable (Question, DropPath, borrowing OpenFile, Cancellation, _ isFirst: Bool) throws -> Reply

    private struct Asked {
        let fingerprint: Fingerprint
        let question: Question
        let cancellation: Cancellation
        var isFirst = true
        var isBegun = false
        var answer: Answer?
        /// How often an answer is given that may be another one later, and how often the last one was.
        var looksLeft: Int?
        var looks = 1
    }

    private var asked: [DropPath: Asked] = [:]
    /// Waiting drops: first readings, and others.
    private var line = Deque<DropPath>()
    private var laterLine = Deque<DropPath>()
    private var idle: [DispatchQueue]
    private let hasOne: Bool
    private static var mostLooks: Int { 32 }
    private let owner: DispatchQueue
    private let inbox: FilePath
    private let read: Reader
    private let failed: @Sendable (any Error) -> Reply
    /// Called on `owner` when there is an answer.
    package var whenDone: @Sendable (DropPath) -> Void = { _ in }

    /// Questions about drops of an inbox, asked on `owner` and answered on queues of these labels, in their order.
    /// `failed`: the answer where there is none.
    init(
        in inbox: FilePath, on labels: [String], for owner: DispatchQueue,
        failed: @escaping @Sendable (any Error) -> Reply, read: @escaping Reader
    ) {
        self.inbox = inbox
        self.owner = owner
        self.failed = failed
        self.read = read
        idle = labels.map { DispatchQueue(label: $0) }
        hasOne = labels.count == 1
    }

    /// The answer for a drop in this state; nil while it is being read, which it is from now on.
    func answer(of key: DropPath, in state: Fingerprint, asking question: Question) -> Answer? {
        dispatchPrecondition(condition: .onQueue(owner))
        if let known = asked[key], known.fingerprint == state, known.question == question {
            guard let answer = known.answer, let left = known.looksLeft else { return known.answer }
            if left > 0 {
                asked[key]?.looksLeft = left - 1
                return answer
            }
            readLater(key)
        } else {
            forget(key)
            asked[key] = Asked(fingerprint: state, question: question, cancellation: Cancellation())
            line.append(key)
        }
        goOn()
        return nil
    }

    private func readLater(_ key: DropPath) {
        asked[key]?.answer = nil
        asked[key]?.isFirst = false
        asked[key]?.isBegun = false
        laterLine.append(key)
    }

    /// The next drop for an idle queue. Forgotten drops, and those being read, may still be in line.
    private func next() -> DropPath? {
        while let key = line.popFirst() {
            if let next = asked[key], next.isFirst, !next.isBegun { return key }
        }
        guard hasOne || idle.count > 1 else { return nil }
        while let key = laterLine.popFirst() {
            if let next = asked[key], !next.isFirst, !next.isBegun { return key }
        }
        return nil
    }

    /// Gives the next drops to the idle queues.
    private func goOn() {
        while !idle.isEmpty, let key = next(), let next = asked[key], let queue = idle.popLast() {
            asked[key]?.isBegun = true
            let (cancellation, isFirst) = (next.cancellation, next.isFirst)
            queue.async { @Sendable [weak self, inbox, read, failed, owner, question = next.question] in
                let reply: Reply
                do {
                    let folder = try OpenInbox(inbox).open(key.folder)
                    reply = try read(question, key, folder.file, cancellation, isFirst)
                } catch {
                    reply = failed(error)
                }
                owner.async { @Sendable [weak self] in
                    guard let self else { return }
                    idle.append(queue)
                    receive(reply, of: key, cancellation)
                    goOn()
                }
            }
        }
    }

    /// The drop is gone, or taken.
    func forget(_ key: DropPath) {
        dispatchPrecondition(condition: .onQueue(owner))
        asked.removeValue(forKey: key)?.cancellation.cancel()
    }

    /// Calls everything off.
    package func stop() {
        dispatchPrecondition(condition: .onQueue(owner))
        for one in asked.values { one.cancellation.cancel() }
        asked = [:]
        line = []
        laterLine = []
    }

    private func receive(_ reply: Reply, of key: DropPath, _ cancellation: Cancellation) {
        guard let known = asked[key], known.cancellation === cancellation else { return }
        switch reply {
        case .tooLong: return readLater(key)
        case .lasting(let answer): asked[key]?.answer = answer
        case .passing(let answer):
            asked[key]?.answer = answer
            asked[key]?.looksLeft = known.looks
            asked[key]?.looks = min(known.looks * 2, Self.mostLooks)
        }
        whenDone(key)
    }
}

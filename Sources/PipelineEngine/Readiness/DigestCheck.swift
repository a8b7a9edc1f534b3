import Digests
@preconcurrency import Dispatch
import Glibc
import PipelineKit
import SystemPackage

/// Compares drops with what came with them, on a queue of its own, since that reads every byte. What it finds is kept
/// as long as neither the drop nor what is asked changes.
// @unchecked: every `var` below is touched on the queue of the intake (`owner`) only.
final class DigestCheck: @unchecked Sendable {
    /// What one file has to be.
    struct Expectation: Sendable, Hashable {
        /// From the folder on that the drop lies in.
        let path: FilePath
        let digest: Digest
    }

    /// What is asked of a drop.
    enum Question: Sendable, Hashable {
        /// Whether it is a file with all of these digests.
        case digests(Set<Digest>)
        /// Whether it is a folder that holds what its manifests, the files at its top with such names, list.
        case manifests(Glob)
    }

    /// What came of it.
    enum Outcome: Sendable {
        case fits
        /// The file has another digest by this algorithm.
        case differs(DigestAlgorithm)
        case lacks(Waiting.ManifestFault)
        /// Why it could not be told.
        case failed(String)
    }

    private struct Check {
        let fingerprint: Fingerprint
        let question: Question
        let cancellation: Cancellation
        var outcome: Outcome?
    }

    private var checks: [DropPath: Check] = [:]
    private let queue: DispatchQueue
    private let owner: DispatchQueue
    /// Called on `owner` when there is an outcome.
    var whenDone: @Sendable (DropPath) -> Void = { _ in }

    private let inbox: FilePath

    /// A check for drops of an inbox, whose intake has this queue.
    init(of pipeline: String, in inbox: FilePath, for owner: DispatchQueue) {
        self.inbox = inbox
        queue = DispatchQueue(label: "dropmill.\(pipeline).digests")
        self.owner = owner
    }

    /// What came of the comparison of a drop in this state; nil while it goes on, which it does from now on.
    func outcome(of key: DropPath, in state: Fingerprint, asking question: Question) -> Outcome? {
        if let check = checks[key], check.fingerprint == state, check.question == question { return check.outcome }
        forget(key)
        let cancellation = Cancellation()
        checks[key] = Check(fingerprint: state, question: question, cancellation: cancellation)
        queue.async { @Sendable [weak self, inbox] in
            guard !cancellation.isCancelled else { return }
            let outcome = Self.answer(question, of: key, in: inbox, cancellation)
            guard let self, !cancellation.isCancelled else { return }
            owner.async { @Sendable in self.take(outcome, of: key, cancellation) }
        }
        return nil
    }

    /// The drop is gone, or taken.
    func forget(_ key: DropPath) { checks.removeValue(forKey: key)?.cancellation.cancel() }

    /// Calls everything off.
    func stop() {
        for check in checks.values { check.cancellation.cancel() }
        checks = [:]
    }

    private func take(_ outcome: Outcome, of key: DropPath, _ cancellation: Cancellation) {
        guard checks[key]?.cancellation === cancellation else { return }
        checks[key]?.outcome = outcome
        whenDone(key)
    }

    private static func answer(
        _ question: Question, of key: DropPath, in inbox: FilePath, _ cancellation: Cancellation
    ) -> Outcome {
        do {
            let folder = try OpenInbox(inbox).open(key.folder)
            switch question {
            case .manifests(let pattern):
                let fault = try ManifestReading.fault(of: key.name, in: folder.file, matching: pattern, cancellation)
                return fault.map { .lacks($0) } ?? .fits
            case .digests(let expected):
                // Once through the file, however many there are.
                let path = FilePath().appending(key.name)
                let found = Set(try digests(of: path, below: folder.file, expected.algorithms, cancellation))
                return expected.first { !found.contains($0) }.map { .differs($0.algorithm) } ?? .fits
            }
        } catch {
            return .failed("\(error)")
        }
    }

    /// A file's digests, in the order of the algorithms. Throws `DigestError.stopped` where it was called off.
    static func digests(
        of path: FilePath, below folder: borrowing OpenFile, _ algorithms: [DigestAlgorithm],
        _ cancellation: Cancellation
    ) throws -> [Digest] {
        let file = try OpenFile.open(path, below: folder, O_RDONLY | O_NONBLOCK)
        var hasher = try FileHasher.make(algorithms)
        return try hasher.hash(descriptor: file.descriptor) { (_) throws(DigestError) in
            if cancellation.isCancelled { throw .stopped }
        }
    }
}

import Digests
@preconcurrency import Dispatch
import Glibc
import PipelineKit
import SystemPackage

/// Compares drops with the digests that came with them, on a queue of its own, since that reads every byte. What it
/// finds is kept as long as neither the drop nor what is expected of it changes.
// @unchecked: every `var` below is touched on the queue of the intake (`owner`) only.
final class DigestCheck: @unchecked Sendable {
    /// What one file has to be.
    struct Expectation: Sendable, Hashable {
        /// From the folder on that the drop lies in.
        let path: FilePath
        let digest: Digest
    }

    /// How a comparison ended.
    enum Outcome: Sendable {
        /// Those that differ, in the order they were given.
        case compared(differing: [Expectation])
        /// Why it could not be made.
        case failed(String)
    }

    private struct Check {
        let fingerprint: Fingerprint
        let expected: [Expectation]
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
    func outcome(of key: DropPath, in state: Fingerprint, expecting expected: [Expectation]) -> Outcome? {
        if let check = checks[key], check.fingerprint == state, check.expected == expected { return check.outcome }
        forget(key)
        let cancellation = Cancellation()
        checks[key] = Check(fingerprint: state, expected: expected, cancellation: cancellation)
        queue.async { @Sendable [weak self, inbox] in
            let outcome = Self.compare(expected, in: key.folder, of: inbox, cancellation)
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

    private static func compare(
        _ expected: [Expectation], in folder: InboxFolder, of inbox: FilePath, _ cancellation: Cancellation
    ) -> Outcome {
        var differing: [Expectation] = []
        do {
            let folder = try OpenInbox(inbox).open(folder)
            for algorithm in DigestAlgorithm.allCases {
                let files = expected.filter { $0.digest.algorithm == algorithm }
                if files.isEmpty { continue }
                var hasher = try FileHasher.make([algorithm])
                for file in files {
                    let opened = try OpenFile.open(file.path, below: folder.file, O_RDONLY | O_NONBLOCK)
                    let digests = try hasher.hash(descriptor: opened.descriptor) { (_) throws(DigestError) in
                        if cancellation.isCancelled { throw .stopped }
                    }
                    if digests.first != file.digest { differing.append(file) }
                }
            }
            return .compared(differing: differing)
        } catch {
            return .failed("\(error)")
        }
    }
}

package import Digests
@preconcurrency package import Dispatch
package import Files
package import FolderWatch
import Glibc
package import PipelineKit
package import SystemPackage

/// Compares drops with the digests in their markers and manifests, on a queue of its own, since that reads every byte.
/// Not left to `verify`: a drop whose digest differs still waits for the rest of its bytes; a stage would fail it.
package enum DigestCheck {
    package typealias Reading = InboxReading<Question, Outcome>

    /// What one file has to be.
    package struct Expectation: Sendable, Hashable {
        /// Relative to the drop's folder.
        package let path: FilePath
        package let digest: Digest
    }

    /// What is asked of a drop.
    package enum Question: Sendable, Hashable {
        /// Whether it is a file with all of these digests.
        case digests(Set<Digest>)
        /// Whether it is a folder that holds what its manifests, the files at its top with such names, list.
        case manifests(Glob)
    }

    package enum Outcome: Sendable {
        case fits
        /// The file has another digest by this algorithm.
        case differs(DigestAlgorithm)
        case lacks(Waiting.ManifestFault)
        /// Why it could not be determined.
        case failed(String)
    }

    /// A check for drops of an inbox, whose intake has this queue.
    package static func reading(of pipeline: String, in inbox: FilePath, for owner: DispatchQueue) -> Reading {
        Reading(in: inbox, on: ["dropmill.\(pipeline).digests"], for: owner) { @Sendable error in
            .lasting(.failed("\(error)"))
        } read: { @Sendable question, key, folder, cancellation, _ in
            .lasting(try answer(question, of: key.name, in: folder, cancellation))
        }
    }

    private static func answer(
        _ question: Question, of name: FileName, in folder: borrowing OpenFile, _ cancellation: Cancellation
    ) throws -> Outcome {
        switch question {
        case .manifests(let pattern):
            let fault = try ManifestReading.fault(of: name, in: folder, matching: pattern, cancellation)
            return fault.map { .lacks($0) } ?? .fits
        case .digests(let expected):
            // Once through the file, however many there are.
            let path = FilePath().appending(name)
            let found = Set(try digests(of: path, below: folder, expected.algorithms, cancellation))
            return expected.first { !found.contains($0) }.map { .differs($0.algorithm) } ?? .fits
        }
    }

    /// A file's digests, in the order of the algorithms. Throws `DigestError.stopped` where it was called off.
    package static func digests(
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

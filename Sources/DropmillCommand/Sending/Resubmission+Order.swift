import Control
import Digests
import Files
import Journal
import PipelineEngine
import PipelineKit

extension Resubmission.Kind {
    /// Nil where nothing is to go in.
    init?(_ kind: SendingOrder.Kind, _ order: SendingOrder) {
        switch kind {
        case .retry: self = .retry
        case .replay: self = .replay(Self.verify, again: order.names)
        case .cancel, .dismiss: return nil
        }
    }

    /// Digests that this machine cannot make prove nothing either way.
    private static func verify(_ descriptor: Int32, _ digests: [String: String]) throws(IOError) -> Bool {
        let expected = digests.compactMap { name, hex in
            DigestAlgorithm(rawValue: name).flatMap { Digest($0, hex: hex.utf8) }
        }
        guard !expected.isEmpty else { return true }
        do throws(DigestError) {
            var hasher = try FileHasher.make(expected.map(\.algorithm))
            return try hasher.hash(descriptor: descriptor) == expected
        } catch {
            switch error {
            case .unreadable(let errno): throw IOError("read", "the copy", errno)
            case .unavailable, .failed, .stopped: return true
            }
        }
    }
}

extension Resubmission {
    /// The named jobs (ids, beginnings of ids, drops' names) that can be sent in.
    mutating func find(_ names: [String]) throws(JournalError) -> [JobRecord] {
        var seen: Set<JobID> = []
        var records: [JobRecord] = []
        for name in names {
            switch try JobFinder.find(name, in: journal) {
            case .nothing(let message): reportProblem(EscapedText.of(RawArguments.bytes(of: name)), message)
            case .found(let record):
                if seen.insert(record.id).inserted, try mayBeSent(record) { records.append(record) }
            }
        }
        return records
    }
}

import Files
import PipelineKit
import SystemPackage

@testable import PipelineEngine

extension Spool {
    /// What a claim and its proof came to.
    enum ClaimOutcome {
        case taken(Claimed)
        case stillWritten(Job)
        case vanished
        case refused(String)
    }

    /// Claims a drop and proves it at once.
    func claimAndProve(
        _ name: FileName, ready: Fingerprint, in inbox: borrowing OpenFile, at path: InboxFolder = .top, as id: JobID
    ) throws(IOError) -> ClaimOutcome {
        switch try claim(name, ready: ready, in: inbox, at: path, as: id) {
        case .vanished: return .vanished
        case .refused(let reason): return .refused(reason)
        case .claimed(let job):
            switch try prove(job, ready: ready, claimed: .now()) {
            case .complete(let claimed): return .taken(claimed)
            case .stillWritten: return .stillWritten(job)
            case .copying:
                guard case .complete(let claimed) = try takeCopy(of: job) else { return .stillWritten(job) }
                return .taken(claimed)
            }
        }
    }
}

import Files
import PipelineKit
import Readiness

/// Takes in jobs that are known by their folders alone.
extension Intake {
    /// Jobs known only by their folders, from an earlier run or from claims whose replies were lost: one with an
    /// open writer, or where that is unknown, must stand still again first.
    func adopt(_ jobs: [Job], ofEarlierRun isEarlier: Bool = true) {
        var complete: [Spool.Claimed] = []
        let begun = MonotonicTime.now()
        for job in jobs {
            noteLook(at: job)
            do throws(IOError) {
                if let failure = quarantine.verdict(on: .job(job.slot), named: job.drop.name),
                    try Rejection.read(in: job.folder) == nil
                {
                    try Rejection.write(failure, in: job.folder)
                }
                if let failure = try Rejection.read(in: job.folder) {
                    let identity = FileIdentity.of(job.original) ?? .unknown
                    reserve(job)
                    complete.append(Spool.Claimed(job: job, identity: identity, failure: failure))
                    quarantine.clear(.job(job.slot))
                    continue
                }
            } catch {
                reserve(job)
                _ = adopted(job, .failure(error))
                continue
            }
            reserve(job)
            guard job.drop.isFolder else {
                if let claimed = adopted(job, Self.adoption(of: job, by: spool, since: begun)) {
                    complete.append(claimed)
                }
                continue
            }
            elsewhere(job) { @Sendable spool in
                Self.adoption(of: job, by: spool, since: begun)
            } then: { @Sendable intake, proof in
                guard let claimed = intake.adopted(job, proof) else { return }
                intake.report([claimed], adopted: isEarlier)
            }
        }
        if !complete.isEmpty { report(complete, adopted: isEarlier) }
    }

    /// The proof of one without writers.
    private static func adoption(
        of job: Job, by spool: Spool, since begun: MonotonicTime
    ) -> Result<Spool.Proof, IOError> {
        Result { () throws(IOError) in
            let look = try spool.look(at: job, since: begun)
            guard case .file(let fingerprint, let writers) = look.sample, writers == .none || writers == .notAsked
            else { return .stillWritten("") }
            return try spool.prove(job, ready: fingerprint, claimed: begun)
        }
    }

    /// The drop, if it is complete; else it has to stand still first.
    private func adopted(_ job: Job, _ proof: Result<Spool.Proof, IOError>) -> Spool.Claimed? {
        switch proof {
        case .success(.complete(let claimed)):
            giveBack(job)
            reserve(claimed.job)
            quarantine.clear(.job(job.slot))
            return claimed
        case .success(.copying): copy(job)
        case .success(.stillWritten): hold(job)
        case .failure(let error):
            // A problem of that drop is reported while it waits.
            if error.errno.trouble(with: .drop) == .pauses { fail(Failure(error)) }
            hold(job)
        }
        return nil
    }
}

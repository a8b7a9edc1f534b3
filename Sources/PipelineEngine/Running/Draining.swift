import PipelineKit

/// Claimed drops that somebody still writes to: they wait in their job's folder, where nobody can open them any more,
/// until they have stood still. A value of the intake.
struct Draining {
    private(set) var gate: ReadyGate<JobID>
    private var jobs: [JobID: Job] = [:]

    init(rule: ReadyRule) { gate = ReadyGate(rule: rule) }

    /// The drops' names.
    var names: [FileName] { jobs.values.map(\.drop.name) }

    /// Whether each of them was seen to change, or held open, while it waited here.
    var allDisturbed: Bool { gate.waiting.allSatisfy(\.isDisturbed) }

    mutating func add(_ job: Job) {
        jobs[job.id] = job
        gate.touch(job.id, at: .now())
    }

    /// Looks at those that are due. `complete`: they may run now; `lost`: how many were taken from the work folder by
    /// others.
    mutating func turn(_ spool: Spool) throws(IOError) -> (complete: [Spool.Claimed], lost: Int) {
        var complete: [Spool.Claimed] = []
        var lost = 0
        for request in gate.due(at: .now()) {
            guard let job = jobs[request.key] else { continue }
            let sample: Sample
            do throws(IOError) {
                sample = try spool.look(at: job).sample
            } catch {
                if error.errno == .noSuchFileOrDirectory {
                    sample = .gone
                } else {
                    gate.touch(job.id, at: .now())
                    throw error
                }
            }
            switch gate.record(sample, of: job.id, at: .now()) {
            case .ready(let fingerprint):
                if case .taken(let taken) = try spool.prove(job, ready: fingerprint) {
                    jobs[job.id] = nil
                    complete.append(taken)
                } else {
                    gate.touch(job.id, at: .now())
                }
            case .ignored:
                // Empty files are ignored in the inbox; this one is claimed, so it runs.
                jobs[job.id] = nil
                gate.forget(job.id)
                complete.append(Spool.Claimed(job: job, identity: FileIdentity.of(job.original) ?? .unknown))
            case .vanished:
                jobs[job.id] = nil
                lost += 1
            case .waiting, .refused: break
            }
        }
        return (complete, lost)
    }
}

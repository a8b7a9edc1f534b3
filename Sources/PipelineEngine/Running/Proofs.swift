@preconcurrency import Dispatch
import PipelineKit

/// What takes as long as a claimed folder is large: looks at it, and the proof that it is complete. One after the other
/// on a queue of their own, so that nothing else waits for them. A value of the intake.
struct Proofs {
    /// The jobs of those that are requested and not finished.
    private var requested: [JobID: Job] = [:]
    /// The one in progress, for the next run.
    var note: LookNote?
    private let cancellation = Cancellation()
    let queue: DispatchQueue

    init(of pipeline: String) { queue = DispatchQueue(label: "dropmill.\(pipeline).proofs") }

    /// How many are requested and not finished.
    var count: Int { requested.count }

    /// Their jobs.
    var jobs: [Job] { Array(requested.values) }

    /// Has something done about a job with a spool whose looks end when all is called off; `done` is called on the
    /// queue of the proofs, unless it is called off before.
    mutating func run<Result: Sendable>(
        _ job: Job, _ spool: Spool, _ body: @escaping @Sendable (Spool) -> Result,
        done: @escaping @Sendable (Result) -> Void
    ) {
        requested[job.id] = job
        let spool = spool.breakingOff { @Sendable [cancellation] _ in cancellation.isCancelled }
        queue.async { @Sendable [cancellation, note] in
            guard !cancellation.isCancelled else { return }
            note?.begin(.job(job.slot))
            let result = body(spool)
            note?.end()
            done(result)
        }
    }

    mutating func end(_ job: Job) { requested[job.id] = nil }

    /// Cancels all, and waits for the one in progress; the next start finds the drops where they are.
    func stop() {
        cancellation.cancel()
        queue.sync {}
    }
}

extension Intake {
    /// Runs work for a claimed folder on the queue of the proofs, then a completion on this one.
    func elsewhere<Result: Sendable>(
        _ job: Job, _ body: @escaping @Sendable (Spool) -> Result,
        then: @escaping @Sendable (isolated Intake, Result) -> Void
    ) {
        proofs.run(job, spool, body) { @Sendable [weak self] result in
            self?.enqueue { intake in
                guard intake.isRunning else { return }
                intake.proofs.end(job)
                then(intake, result)
                intake.turnSoon()
            }
        }
    }
}

@preconcurrency import Dispatch
import Files
import PipelineKit
import SystemPackage

/// Claimed drops that are being copied, since they cannot be taken over otherwise: on a queue of their own, so that
/// nothing waits for a large one. A value of the intake.
struct Copying {
    private var cancellations: [JobID: Cancellation] = [:]
    let queue: DispatchQueue
    /// Which one is under way, for the next run.
    var note: LookNote?

    init(of pipeline: String) { queue = DispatchQueue(label: "dropmill.\(pipeline).copies") }

    var isEmpty: Bool { cancellations.isEmpty }

    /// Copies a drop; `done` is called on the queue of the copies.
    mutating func copy(
        _ job: Job, _ spool: Spool, done: @escaping @Sendable (Result<Spool.Proof, IOError>) -> Void
    ) {
        let cancellation = Cancellation()
        cancellations[job.id] = cancellation
        let spool = spool.breakingOff { @Sendable _ in cancellation.isCancelled }
        queue.async { @Sendable [note] in
            note?.begin(.job(job.slot))
            defer { note?.end() }
            let result: Result<Spool.Proof, IOError>
            do throws(IOError) {
                result = .success(try spool.takeCopy(of: job) { cancellation.isCancelled })
            } catch {
                result = .failure(error)
            }
            done(result)
        }
    }

    mutating func end(_ job: Job) { cancellations[job.id] = nil }

    /// Cancels all copies; the next start finds the drops where they are.
    mutating func stop() {
        for cancellation in cancellations.values { cancellation.cancel() }
        cancellations = [:]
        queue.sync {}
    }
}

extension Intake {
    /// Copies a claimed drop, which then runs.
    func copy(_ job: Job) {
        copying.copy(job, spool) { @Sendable [weak self] result in
            self?.enqueue { intake in intake.copied(job, result) }
        }
    }

    private func copied(_ job: Job, _ result: Result<Spool.Proof, IOError>) {
        guard isRunning else { return }
        copying.end(job)
        switch result {
        case .success(.complete(let claimed)):
            quarantine.clear(.job(job.slot))
            deliver(.claimed([claimed], adopted: false))
        case .success(.stillWritten(let reason)): waitForWriters(of: job, because: reason)
        case .success(.copying): waitForWriters(of: job, because: "it must be copied again")
        case .failure(let error):
            waitForWriters(of: job, because: "\(error)")
            if error.errno.trouble(with: .drop) == .pauses { fail(Failure(error)) }
        }
        turnSoon()
    }
}

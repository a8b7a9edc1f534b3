@preconcurrency import Dispatch
import Files
import PipelineKit
import SystemPackage

/// Claimed drops that are being copied, since they cannot be taken over otherwise: on a queue of their own, so that
/// nothing waits for a large one. A value of the intake.
struct Copying {
    private var copies: [JobID: (job: Job, cancellation: Cancellation)] = [:]
    let queue: DispatchQueue
    /// Which one is under way, for the next run.
    var note: LookNote?

    init(of pipeline: String) { queue = DispatchQueue(label: "dropmill.\(pipeline).copies") }

    var isEmpty: Bool { copies.isEmpty }

    /// The jobs whose drops are being copied.
    var jobs: [Job] { copies.values.map(\.job) }

    /// Copies a drop; `done` is called on the queue of the copies.
    mutating func copy(
        _ job: Job, _ spool: Spool, done: @escaping @Sendable (Result<Spool.Proof, IOError>) -> Void
    ) {
        let cancellation = Cancellation()
        copies[job.id] = (job, cancellation)
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

    mutating func end(_ job: Job) { copies[job.id] = nil }

    /// Cancels all copies, and waits for the one under way; the next start finds the drops where they are.
    func stop() {
        for copy in copies.values { copy.cancellation.cancel() }
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
        // Called off: the next intake copies it.
        if case .failure(let error) = result, error.errno == .canceled { return }
        copying.end(job)
        switch result {
        case .success(.complete(let claimed)):
            quarantine.clear(.job(job.slot))
            report([claimed], adopted: false)
        case .success(.stillWritten(let reason)): waitForWriters(of: job, because: reason)
        case .success(.copying): waitForWriters(of: job, because: "it must be copied again")
        case .failure(let error):
            waitForWriters(of: job, because: "\(error)")
            if error.errno.trouble(with: .drop) == .pauses { fail(Failure(error)) }
        }
        turnSoon()
    }
}

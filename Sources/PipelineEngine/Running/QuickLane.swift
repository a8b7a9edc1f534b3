@preconcurrency import Dispatch
import Files
import Journal
import PipelineKit
import Synchronization

/// The quick lane of a pipeline: small drops pass proof and stages as a batch, in one go on one queue, where each would
/// otherwise go from queue to queue by itself. They enter the pipeline's machine with all stages done, and are settled
/// like all others. What is out of the ordinary with one (a writer, another owner, a link, an archive, a failure) goes
/// the usual way from the proof on: until then nothing is done to it.
final class QuickLane: Sendable {
    /// A claimed drop.
    struct Claim: Sendable {
        let job: Job
        /// What it was when it was found complete.
        let ready: Fingerprint
        /// From when it was first seen to its claim.
        let waited: Duration
    }

    private struct State {
        /// How many batches were given and are not over.
        var batches = 0
        /// How many were given of which the engine has not heard.
        var unheard = 0
        var isClosed = false
        /// No stage may begin.
        var isHeld = false
    }

    /// The most drops of a batch.
    static let most = 256
    /// From so many bytes on it is full.
    static let mostBytes: Int64 = 8 << 20

    let rule: LaneRule
    private let spool: Spool
    private let slots: StageSlots
    private let queue: DispatchQueue
    private let state = Mutex(State())

    /// Nil where the pipeline has none. `slots`: a batch is a stage that runs.
    init?(of spool: Spool, _ slots: StageSlots) {
        self.slots = slots
        guard let rule = spool.lane else { return nil }
        self.rule = rule
        self.spool = spool
        queue = DispatchQueue(label: "dropmill.\(spool.pipeline.name).quick")
    }

    /// Whether as many should be claimed for it now: at once while it is at rest; while it is busy they gather.
    func accepts(_ count: Int) -> Bool {
        state.withLock { $0.batches == 0 || $0.batches == 1 && count >= Self.most }
    }

    /// Whether the engine has heard of all that was given.
    var isIdle: Bool { state.withLock { $0.unheard == 0 } }

    /// The engine has heard of a batch.
    func heard() { state.withLock { $0.unheard -= 1 } }

    /// Whether a person has paused the pipeline: what has not begun goes the usual way then, which waits for stages.
    func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }

    /// Calls the body when what is under way now is over, on the lane's queue.
    func afterBatch(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// Takes nothing more; what is under way ends as usual.
    func close() { state.withLock { $0.isClosed = true } }

    /// Waits until nothing is under way.
    func stop() {
        close()
        queue.sync {}
    }

    /// Runs claims that were made before `claimed`. False where it is closed, or as many stages run as may.
    /// `deliver` is called on the lane's queue with those that ran through; then, when the batch is over, `leave` with
    /// those that go the usual way.
    func run(
        _ claims: [Claim], claimed: MonotonicTime, deliver: @escaping @Sendable ([ActiveJob]) -> Void,
        leave: @escaping @Sendable ([Claim]) -> Void
    ) -> Bool {
        guard slots.tryEnter() else { return false }
        let isTaken = state.withLock { state in
            guard !state.isClosed else { return false }
            state.batches += 1
            state.unheard += 1
            return true
        }
        guard isTaken else {
            slots.leave()
            return false
        }
        queue.async { @Sendable [self] in
            let (ran, left) = run(claims, claimed)
            slots.leave()
            deliver(ran)
            state.withLock { $0.batches -= 1 }
            leave(left)
        }
        return true
    }

    private func run(_ claims: [Claim], _ claimed: MonotonicTime) -> (ran: [ActiveJob], left: [Claim]) {
        var (ran, left) = ([ActiveJob](), [Claim]())
        ran.reserveCapacity(claims.count)
        let largest = claims.map(\.ready.size).max() ?? 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, Int(largest)), alignment: 16)
        defer { buffer.deallocate() }
        for claim in claims {
            if let active = run(claim, claimed, buffer) { ran.append(active) } else { left.append(claim) }
        }
        return (ran, left)
    }

    /// Nil where it goes the usual way.
    private func run(_ claim: Claim, _ claimed: MonotonicTime, _ buffer: UnsafeMutableRawBufferPointer) -> ActiveJob? {
        do throws(IOError) {
            return try spool.withContent(of: claim.job, ready: claim.ready, claimed: claimed, buffer) {
                content, found in
                pass(claim, content, found)
            }
        } catch {
            // The usual way says what is wrong.
            return nil
        }
    }

    private func pass(_ claim: Claim, _ content: SmallContent, _ found: FileIdentity.Found) -> ActiveJob? {
        let producer = claim.job.producer ?? Spool.producer(of: found.status.st_uid)
        let (job, pipeline) = (claim.job.with(from: producer), spool.pipeline)
        var record = JobRecord(claimed: job, identity: claim.ready.identity, definition: pipeline.definition)
        record.modified = claim.ready.modified
        record.history.append(Transition("claimed", at: job.claimedAt, duration: claim.waited))
        // It would go back to its first stage: no other is worth its input.
        record.inputs = nil
        // One from a folder below the inbox has a note of that beside it.
        var active = ActiveJob(job, record: record, known: job.drop.folders.isEmpty ? found : nil)
        var payload = Payload(dropOf: job)
        var begun = MonotonicTime.now()
        for entry in pipeline.stages {
            guard entry.applies(to: job.drop, payload) else {
                active.skipped(entry.kind)
                continue
            }
            guard !state.withLock({ $0.isHeld }), let passed = entry.stage.pass(payload, of: job, holding: content)
            else { return nil }
            payload = passed
            let now = MonotonicTime.now()
            active.stageSucceeded(entry.kind, in: now - begun, giving: payload, saying: nil)
            begun = now
        }
        return active
    }
}

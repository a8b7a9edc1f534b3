@preconcurrency import Dispatch
package import Files
import Journal
package import PipelineKit
import Synchronization
import SystemPackage

/// The workers of one stage of one pipeline: each a serial queue, since stages block and every serial queue has a
/// thread of its own at once. A free worker takes the next job; results go to a mailbox.
package final class StageWorkers: Sendable {
    /// A job for a worker.
    package struct Work: Sendable {
        package let job: Job
        /// What it carries.
        package let payload: Payload
        /// The stage's place in the pipeline.
        package let stage: Int
        /// Why the job failed, for a stage of `on_failure`.
        package var failed: JobFailure?
        /// Called when a worker takes it, before the stage runs.
        var before: (@Sendable (Cancellation) throws(Failure) -> Void)?
    }

    /// The result of a worker's run.
    package struct Result: Sendable {
        /// The work.
        package let work: Work
        /// The new payload, or why there is none.
        package let result: Swift.Result<Payload, Failure>
        /// How long it took.
        package let duration: Duration
        /// Its notes and warnings.
        package let notes: StageNotes
        /// Whether the stage ran, that is, `before` succeeded.
        package let hasRun: Bool

        /// The same where something else was the reason, such as a folder that was away, which is not the drop's fault.
        func failing(because failure: Failure) -> Result {
            Result(work: work, result: .failure(failure), duration: duration, notes: notes, hasRun: hasRun)
        }
    }

    /// What a worker is doing, for display.
    package struct Running: Sendable {
        /// The work.
        package let work: Work
        /// When it started.
        package let since: MonotonicTime
        /// Its progress.
        package let progress: StageProgress
        let cancellation: Cancellation
        let notes: StageNotes
    }

    private struct State {
        var waiting: WorkQueue
        var idle: [Int]
        var running: [Int: Running] = [:]
        /// Jobs whose runs are to leave their folders as they are.
        var dropped: Set<JobID> = []
        var isStopped = false
        /// How many runs of those before are not over: as many workers, or all there are, begin nothing.
        var earlier = 0
        var withheld: [Int] = []
        /// Those that wait for the runs here to end.
        var next: StageWorkers?
    }

    private let entry: StageEntry
    private let pipeline: String
    private let label: String
    private let durability: Durability
    private let isShared: Bool
    private let queues: [DispatchQueue]
    /// Only sets flags, so one queue serves all workers.
    private let alarms: DispatchQueue
    private let state: Mutex<State>
    private let slots: StageSlots
    /// Where it is limited on all nodes together.
    private let fleet: FleetSlots?
    private let place: SlotPlace
    private let space: FreeSpace
    private let seen: any SeenContent
    private let deliver: @Sendable (Result) -> Void

    /// Workers for a stage. `durability`: what becomes of what it makes. `isShared`: whether
    /// senders can still write to their drops. `turns`: how jobs take turns, else first come, first served; `slots`:
    /// how many stages may run at once with those of others, and `fleet` how often this one (`place`) may on all nodes
    /// together. `space`: looked at before a stage that makes files;
    /// `seen`: what stages may ask. `deliver` is told what came of it, on the worker's queue.
    init(
        entry: StageEntry, pipeline: String, durability: Durability, isShared: Bool = false, turns: SharedWork? = nil,
        slots: StageSlots = StageSlots(), fleet: FleetSlots? = nil, as place: SlotPlace? = nil,
        space: FreeSpace, seen: any SeenContent = NothingSeen(), deliver: @escaping @Sendable (Result) -> Void
    ) {
        self.entry = entry
        self.pipeline = pipeline
        self.slots = slots
        self.fleet = entry.isFleetWide ? fleet : nil
        self.place = place ?? SlotPlace(pipeline: pipeline, stage: entry.kind)
        self.durability = durability
        self.isShared = isShared
        self.space = space
        self.seen = seen
        self.deliver = deliver
        label = "dropmill.\(pipeline).\(entry.kind)"
        alarms = DispatchQueue(label: "\(label).timeouts")
        let label = label
        queues = (0..<entry.workers).map { DispatchQueue(label: "\(label).\($0 + 1)") }
        // The last of the list is taken first, so that a lightly loaded stage keeps using its first worker.
        state = Mutex(State(waiting: WorkQueue(turns), idle: Array((0..<entry.workers).reversed())))
    }

    /// What is running.
    package var running: [Running] { state.withLock { Array($0.running.values) } }

    /// Gives a job to the next free worker.
    package func submit(_ work: Work) {
        let worker = state.withLock { state -> Int? in
            guard !state.isStopped else { return nil }
            state.waiting.append(work)
            return state.idle.popLast()
        }
        if let worker { begin(worker) }
    }

    /// Takes back what no worker has begun, and begins nothing more.
    package func stop() -> [Work] {
        state.withLock { state in
            state.isStopped = true
            return state.waiting.removeAll()
        }
    }

    /// Counts what runs in those of an earlier generation, which have been stopped, among what may run at once: what
    /// there are no workers for begins as those runs end. To be called before anything is submitted.
    func follow(_ others: StageWorkers) {
        let earlier = others.state.withLock { state in
            state.next = self
            return state.running.count + state.earlier
        }
        state.withLock { state in
            state.earlier += earlier
            while state.withheld.count < state.earlier, let worker = state.idle.popLast() {
                state.withheld.append(worker)
            }
        }
    }

    /// A run of those before is over.
    private func earlierEnded() {
        let (worker, next) = state.withLock { state -> (Int?, StageWorkers?) in
            state.earlier -= 1
            guard !state.isStopped else { return (nil, state.next) }
            guard state.withheld.count > state.earlier, let worker = state.withheld.popLast() else { return (nil, nil) }
            guard state.waiting.isEmpty else { return (worker, nil) }
            state.idle.append(worker)
            return (nil, nil)
        }
        if let worker { begin(worker) }
        next?.earlierEnded()
    }

    /// Takes back what no worker has begun; workers go on with what comes next.
    package func withdraw() -> [Work] {
        state.withLock { $0.waiting.removeAll() }
    }

    /// Takes back a job that no worker has begun, and returns true; else calls off the worker that has it.
    func callOff(_ id: JobID) -> Bool {
        state.withLock { state in
            if state.waiting.remove(id) != nil { return true }
            state.running.values.first { $0.work.job.id == id }?.cancellation.cancel()
            return false
        }
    }

    /// Calls a job off that another node has by now: what is in its folder is not removed.
    func drop(_ id: JobID) {
        state.withLock { state in
            guard state.waiting.remove(id) == nil,
                let running = state.running.values.first(where: { $0.work.job.id == id })
            else { return }
            state.dropped.insert(id)
            running.cancellation.cancel()
        }
    }

    /// Puts a job that no worker has begun first or last in line; false where there is none.
    func bump(_ id: JobID, last isLast: Bool) -> Bool {
        state.withLock { $0.waiting.bump(id, last: isLast) }
    }

    /// Calls off what is running.
    package func cancel() {
        for running in running { running.cancellation.cancel() }
    }

    /// Has a worker run as soon as it has a slot; of the fleet's first, since one of those may be long in coming.
    private func begin(_ worker: Int) {
        guard let fleet else { return slots.enter(pipeline, goOn(worker, nil)) }
        fleet.enter(place, of: entry.workers) { @Sendable [self] seat in slots.enter(pipeline, goOn(worker, seat)) }
    }

    private func goOn(_ worker: Int, _ seat: Int64?) -> @Sendable () -> Void {
        { @Sendable [self] in queues[worker].async { @Sendable in self.run(worker, seat) } }
    }

    /// Gives both slots back.
    private func leave(_ seat: Int64?) {
        slots.leave()
        if let seat { fleet?.leave(seat) }
    }

    /// Runs one job after the other for as long as it may keep its slots.
    private func run(_ worker: Int, _ seat: Int64?) {
        if let seat, let fleet, !fleet.holds(seat) {
            // It took too long to get here.
            leave(seat)
            return begin(worker)
        }
        var taken = next(worker)
        if taken == nil { leave(seat) }
        while let running = taken {
            let result: Swift.Result<Payload, Failure>
            var hasRun = false
            do throws(Failure) {
                try running.work.before?(running.cancellation)
                hasRun = true
                result = .success(try run(running, on: worker))
            } catch {
                result = .failure(error)
            }
            let duration = MonotonicTime.now() - running.since
            // First, so that a reported result is no longer listed as running.
            taken = nextInTurn(worker, seat)
            deliver(
                Result(work: running.work, result: result, duration: duration, notes: running.notes, hasRun: hasRun))
        }
    }

    private func run(_ running: Running, on worker: Int) throws(Failure) -> Payload {
        let job = running.work.job
        let scratch = job.scratch(stage: running.work.stage, kind: entry.kind)
        let context = StageContext(
            job: .init(of: job, carrying: running.work.payload, failure: running.work.failed),
            work: .init(
                cancellation: running.cancellation, progress: running.progress, notes: running.notes,
                timeLimit: entry.timeout, label: "\(label).\(worker + 1)"),
            disk: .init(scratch: scratch, reserve: space.floor, durability: durability, isShared: isShared),
            seen: seen)
        let alarm = entry.timeout.map { ring(running.cancellation, after: $0) }
        defer { alarm?.cancel() }
        do throws(Failure) {
            if entry.makesFiles { try space.check() }
            return try entry.stage.run(running.work.payload, in: context)
        } catch {
            // What was written so far is useless, and its space may be what is missing.
            if error.class != .file, !isDropped(job.id) { removeScratch(scratch) }
            guard error.class == .cancelled, running.cancellation.reason == .timeout, let timeout = entry.timeout else {
                throw error
            }
            throw .timedOut(entry.kind, after: timeout, saying: running.notes.text)
        }
    }

    private func ring(_ cancellation: Cancellation, after timeout: Duration) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: alarms)
        timer.schedule(deadline: .now() + .nanoseconds(Int(timeout.nanoseconds)))
        timer.setEventHandler { @Sendable in cancellation.cancel(.timeout) }
        timer.activate()
        return timer
    }

    private func isDropped(_ id: JobID) -> Bool { state.withLock { $0.dropped.remove(id) != nil } }

    private func removeScratch(_ scratch: FilePath) {
        do throws(IOError) {
            try Folder.remove(scratch)
        } catch {
            // The next attempt empties it first, and will report the same error.
        }
    }

    /// The next job for a worker that had one; nil where there is none, or others have their turn first.
    private func nextInTurn(_ worker: Int, _ seat: Int64?) -> Running? {
        let isAwaited = state.withLock { !$0.isStopped && !$0.waiting.isEmpty }
        if isAwaited, !keeps(seat, worker) {
            let next = state.withLock { state in
                state.running[worker] = nil
                return state.isStopped ? state.next : nil
            }
            next?.earlierEnded()
            return nil
        }
        let running = next(worker)
        if running == nil { leave(seat) }
        return running
    }

    /// Whether a worker goes on at once; if not it goes on once it is its turn.
    private func keeps(_ seat: Int64?, _ worker: Int) -> Bool {
        guard let seat, let fleet, !fleet.mayKeep(seat) else { return slots.renew(pipeline, goOn(worker, seat)) }
        leave(seat)
        begin(worker)
        return false
    }

    /// The next job for a worker; nil makes it idle.
    private func next(_ worker: Int) -> Running? {
        let (running, next) = state.withLock { state -> (Running?, StageWorkers?) in
            let hasEnded = state.running.removeValue(forKey: worker) != nil
            guard !state.isStopped, let work = state.waiting.popFirst() else {
                state.idle.append(worker)
                return (nil, hasEnded ? state.next : nil)
            }
            let running = Running(
                work: work, since: .now(), progress: StageProgress(), cancellation: Cancellation(), notes: StageNotes())
            state.running[worker] = running
            return (running, nil)
        }
        next?.earlierEnded()
        return running
    }
}

extension Failure {
    /// A stage took longer than its `timeout`. `notes`: its notes so far.
    static func timedOut(_ kind: String, after timeout: Duration, saying notes: String?) -> Failure {
        Failure(
            .transient, code: "stage.timeout", summary: "The stage '\(kind)' took longer than \(timeout.text).",
            remedy: "Raise its `timeout` if the work takes that long.", detail: notes ?? "")
    }
}

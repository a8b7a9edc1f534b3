import DequeModule
import Files
import FolderWatch
import PipelineKit
import Readiness

/// What waits for the workers of a stage of a pipeline that is shared: a line for each level and producer, of which
/// `FairOrder` says whose turn it is. Pure.
struct SharedWork: Sendable {
    private let pipeline: Pipeline
    private var turns: FairOrder
    private var lines: [FairOrder.Place: Deque<JobID>] = [:]
    private var works: [JobID: (work: StageWorkers.Work, place: FairOrder.Place)] = [:]
    /// Nil where there are no levels.
    private var aging: Aging<JobID>?

    /// Nil for a pipeline that is not shared.
    init?(of pipeline: Pipeline) {
        guard let turns = FairOrder(of: pipeline) else { return nil }
        self.pipeline = pipeline
        self.turns = turns
        aging = pipeline.priority.map { Aging(after: $0.aging) }
    }

    var count: Int { works.count }

    mutating func append(_ work: StageWorkers.Work, at now: MonotonicTime) {
        insert(work, at: FairOrder.Place(of: work.job.drop.path, in: pipeline, owner: work.job.producer))
        _ = aging?.add(work.job.id, at: now)
        aging?.trim(to: works.count) { id, _ in works[id]?.place.level.ages ?? false }
    }

    private mutating func insert(_ work: StageWorkers.Work, at place: FairOrder.Place) {
        let joined = turns.join(place)
        works[work.job.id] = (work, joined)
        lines[joined, default: []].append(work.job.id)
    }

    /// Takes out whose turn it is.
    mutating func popFirst(at now: MonotonicTime) -> StageWorkers.Work? {
        age(at: now)
        guard let place = turns.next, let id = lines[place]?.popFirst() else { return nil }
        turns.take(place)
        if lines[place]?.isEmpty == true { lines[place] = nil }
        return works.removeValue(forKey: id)?.work
    }

    /// Takes one out that was not its producer's turn; nil where it does not wait.
    mutating func remove(_ id: JobID) -> StageWorkers.Work? {
        guard let (work, place) = works.removeValue(forKey: id) else { return nil }
        turns.leave(place)
        lines[place]?.removeAll { $0 == id }
        if lines[place]?.isEmpty == true { lines[place] = nil }
        return work
    }

    /// Puts one before or behind all others; false where it does not wait.
    mutating func bump(_ id: JobID, last isLast: Bool) -> Bool {
        guard let work = remove(id) else { return false }
        let place = FairOrder.Place(isLast ? .last : .first, of: "")
        insert(work, at: place)
        if !isLast, let line = lines[place] { lines[place] = Deque([id] + line.dropLast()) }
        return true
    }

    /// Nothing passes those any more that have waited for long enough.
    private mutating func age(at now: MonotonicTime) {
        let due = aging?.due(at: now) { id, _ in works[id]?.place.level.ages ?? false } ?? []
        for id in due {
            guard let producer = works[id]?.place.producer, let work = remove(id) else { continue }
            insert(work, at: FairOrder.Place(.aged, of: producer))
        }
    }

    /// Takes all of it out, in order.
    mutating func removeAll(at now: MonotonicTime) -> [StageWorkers.Work] {
        var all: [StageWorkers.Work] = []
        while let work = popFirst(at: now) { all.append(work) }
        return all
    }
}

import DequeModule
import Files
import PipelineKit

/// What waits for the workers of a stage: in one line, or by turns where the pipeline is shared. Pure.
struct WorkQueue: Sendable {
    /// All of it, where nobody shares.
    private var line = Deque<StageWorkers.Work>()
    private var shared: SharedWork?

    /// `shared`: where the pipeline is.
    init(_ shared: SharedWork? = nil) { self.shared = shared }

    var isEmpty: Bool { (shared?.count ?? line.count) == 0 }

    mutating func append(_ work: StageWorkers.Work) {
        if shared?.append(work, at: .now()) == nil { line.append(work) }
    }

    /// Takes the next one out.
    mutating func popFirst() -> StageWorkers.Work? {
        shared == nil ? line.popFirst() : shared?.popFirst(at: .now())
    }

    /// Takes one out; nil where it does not wait.
    mutating func remove(_ id: JobID) -> StageWorkers.Work? {
        guard shared == nil else { return shared?.remove(id) }
        return line.firstIndex { $0.job.id == id }.map { line.remove(at: $0) }
    }

    /// Puts one first or last; false where it does not wait.
    mutating func bump(_ id: JobID, last isLast: Bool) -> Bool {
        guard shared == nil else { return shared?.bump(id, last: isLast) ?? false }
        guard let work = remove(id) else { return false }
        line.insert(work, at: isLast ? line.endIndex : line.startIndex)
        return true
    }

    /// Takes all of it out, in order.
    mutating func removeAll() -> [StageWorkers.Work] {
        if let all = shared?.removeAll(at: .now()) { return all }
        defer { line = [] }
        return Array(line)
    }
}

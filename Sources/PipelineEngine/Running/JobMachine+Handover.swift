import PipelineKit

/// What goes from the machine of one generation of a pipeline to that of the next.
extension JobMachine {
    /// Gives up all that nothing is under way for, in the order in which it would go on. A settlement whose intents are
    /// on record ends here.
    mutating func handOver() -> [(id: JobID, entry: Entry)] {
        let idle = Set(jobs.filter { !$0.value.holder.isBusy && !$0.value.isIntended }.keys)
        guard !idle.isEmpty else { return [] }
        let inOrder = held.filter(idle.contains)
        held.removeAll { idle.contains($0) }
        let others = idle.subtracting(inOrder).sorted()
        return (inOrder + others).compactMap { id in jobs.removeValue(forKey: id).map { (id, $0) } }
    }

    /// Whether nothing is left to be done here: what is left is for others to take up.
    var isRelieved: Bool { !jobs.values.contains { $0.holder.isBusy || $0.isIntended } }

    mutating func takeOver(_ id: JobID, _ found: Entry, _ rest: Duration, _ turn: inout Turn) {
        guard jobs[id] == nil else { return }
        jobs[id] = found
        guard case .deferred = found.state else { return begin(id, &turn) }
        jobs[id]?.holder = .timer
        turn.effects += [.write(id), .wait(id, rest)]
    }
}

import PipelineKit

/// The words that people have for how a job stands. One that somebody cancelled is on record as failed, with a code of
/// its own, and nobody calls it so.
extension JobQuery {
    fileprivate static let cancelled = "cancelled"

    /// All of them.
    package static let words = JobRecord.State.allCases.flatMap { state in
        state == .failed ? [state.rawValue, cancelled] : [state.rawValue]
    }

    /// Chooses jobs that stand as one of these words says. Returns the first that is none of `words`, and then chooses
    /// nothing.
    package mutating func choose(_ words: [String]) -> String? {
        var states: [JobRecord.State] = []
        for word in words {
            guard let state = word == Self.cancelled ? .failed : JobRecord.State(rawValue: word) else { return word }
            if !states.contains(state) { states.append(state) }
        }
        let isAmong = words.contains(Self.cancelled)
        isCancelled = isAmong == words.contains(JobRecord.State.failed.rawValue) ? nil : isAmong
        self.states = states
        return nil
    }

    /// What `choose` takes for the same.
    package var words: [String] {
        states.flatMap { state in
            guard state == .failed else { return [state.rawValue] }
            return (isCancelled == true ? [] : [state.rawValue]) + (isCancelled == false ? [] : [Self.cancelled])
        }
    }
}

extension JobRecord {
    /// Whether somebody cancelled it, and it is over.
    package var isCancelled: Bool { state == .failed && failure?.isCancel ?? false }

    /// Whether it is a failure: neither released nor cancelled.
    package var hasFailed: Bool { state == .failed && !isReleased && !isCancelled }

    /// How it stands, in the word that people have for it.
    package var word: String { isCancelled ? JobQuery.cancelled : state.rawValue }
}

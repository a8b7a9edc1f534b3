import Files
import FolderWatch

/// What kept a pipeline from claiming, and when: the latest of it. Pure.
struct Obstacles: Sendable {
    /// The most that is kept of what is over.
    static let most = 8

    private var past: [GateHold] = []
    private var present: (waiting: Waiting, since: MonotonicTime)?

    /// From now on it is this, or nothing.
    mutating func set(_ waiting: Waiting?, at now: MonotonicTime) {
        guard waiting != present?.waiting else { return }
        if let present, now > present.since {
            past.append(GateHold(waiting: present.waiting, since: present.since, time: now - present.since))
            if past.count > Self.most { past.removeFirst() }
        }
        present = waiting.map { ($0, now) }
    }

    /// What of it lay between two times.
    func between(_ start: MonotonicTime, _ end: MonotonicTime) -> [GateHold] {
        guard present != nil || !past.isEmpty else { return [] }
        let now = present.map { GateHold(waiting: $0.waiting, since: $0.since, time: max(.zero, end - $0.since)) }
        return (past + [now].compactMap(\.self)).compactMap { hold in
            let (from, to) = (max(start, hold.since), min(end, hold.since + hold.time))
            return from < to ? GateHold(waiting: hold.waiting, since: from, time: to - from) : nil
        }
    }
}

import Files

/// What held those candidates that more than time held: at most some of each, and of so many candidates at most, since
/// strangers have it in their hands how many there are. Pure.
struct HoldNotes<Slot: Hashable & Sendable>: Sendable {
    fileprivate struct Note {
        var holds: [GateHold] = []
        /// Since when the last look found it held, and by which of them.
        var open: (hold: Int, since: MonotonicTime)?
    }

    /// The most that are kept of a candidate: those that took longest.
    static var most: Int { 4 }
    /// The most candidates that notes are kept of.
    static var mostNoted: Int { 4096 }

    private var notes: [Slot: Note] = [:]

    /// A look found that this holds it, until another look; nil: nothing does.
    mutating func saw(_ waiting: Waiting?, of slot: Slot, at now: MonotonicTime) {
        guard waiting != nil || !notes.isEmpty, var note = note(of: slot, needed: waiting != nil) else { return }
        note.extend(to: now)
        note.open = nil
        if let waiting { note.open = (note.hold(waiting, since: now), now) }
        notes[slot] = note
    }

    /// What has held it, in the order in which it began.
    func holds(of slot: Slot, at now: MonotonicTime) -> [GateHold] {
        guard !notes.isEmpty, var note = notes[slot] else { return [] }
        note.extend(to: now)
        return note.holds
    }

    /// The candidate is gone, and `moved`, if any, has its place.
    mutating func forget(_ slot: Slot, for moved: Slot?) {
        guard !notes.isEmpty else { return }
        notes[slot] = moved.flatMap { notes.removeValue(forKey: $0) }
    }

    private func note(of slot: Slot, needed isNeeded: Bool) -> Note? {
        if let note = notes[slot] { return note }
        return isNeeded && notes.count < Self.mostNoted ? Note() : nil
    }
}

extension HoldNotes.Note {
    fileprivate mutating func extend(to now: MonotonicTime) {
        guard let (hold, since) = open else { return }
        holds[hold].time += max(.zero, now - since)
        open = (hold, now)
    }

    /// The place of what is like this; of more than are kept the shortest goes.
    fileprivate mutating func hold(_ waiting: Waiting, since: MonotonicTime) -> Int {
        if let place = holds.firstIndex(where: { $0.waiting.isLike(waiting) }) {
            holds[place].waiting = waiting
            return place
        }
        if holds.count >= HoldNotes.most, let shortest = holds.indices.min(by: { holds[$0].time < holds[$1].time }) {
            holds.remove(at: shortest)
        }
        holds.append(GateHold(waiting: waiting, since: since, time: .zero))
        return holds.count - 1
    }
}

extension Waiting {
    /// Whether it is the same reason, however far that is.
    fileprivate func isLike(_ other: Waiting) -> Bool {
        switch (self, other) {
        case (.blind, .blind), (.incomplete, .incomplete), (.undetermined, .undetermined): true
        case (.blocked, .blocked), (.manifest, .manifest), (.marker, .marker): true
        case (.heldOpen(let writer), .heldOpen(let other)): writer.program == other.program
        default: self == other
        }
    }
}

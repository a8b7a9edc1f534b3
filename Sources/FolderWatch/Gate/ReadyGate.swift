package import Files

/// Decides when a drop is complete. Pure: times and samples go in, decisions come out.
///
/// A candidate is ready once two samples at least `quiet` apart are equal, nothing touched it in between, no process
/// has it open for writing, and nothing that has to come with it is lacking. The wait begins at the first sample after
/// the last touch. Candidates are sampled only when due.
package struct ReadyGate: Sendable {
    private typealias Candidates = KeyedHeap<DropPath, Candidate>
    private typealias Slot = Candidates.Slot

    private let rule: Rule
    private let usualLack: @Sendable (DropPath) -> Waiting?
    /// Ranked by when their next samples are due; candidates without one are not queued.
    private var candidates = Candidates()
    /// Reasons to report for candidates that wait for more than time and the usual; few have any.
    private var remarks: [Slot: Waiting] = [:]
    /// Bytes that those grew by, in all, that were seen to change.
    private var growth: [Slot: Int64] = [:]
    /// What held those that more than time held.
    private var holds = HoldNotes<Slot>()
    private var parked = 0

    /// Samples of a candidate that is being written are at least this far apart.
    package static var shortestPause: Duration { .milliseconds(5) }

    /// Those of one that has just appeared are closer together, growing by a sixteenth of its age to `shortestPause`:
    /// most files are created, filled and closed within a moment, and the wait begins at the first sample after that.
    package static var firstPause: Duration { .microseconds(500) }

    /// How much longer an empty file must stand still: writers often create a file some time before they fill it.
    package static var emptyFactor: Int { 5 }

    /// Between two looks at one that cannot be opened or examined: no event reports the end of that.
    package static var blockedPause: Duration { .seconds(1) }

    /// The pause is at least this many times the cost of a look, so that looks take no more than a twentieth of the
    /// time.
    private static var restForLooks: Int { 20 }

    /// A gate with a rule. `usualLack`: what a candidate lacks as a rule, such as its marker; that need not be kept for
    /// each.
    package init(rule: Rule, usualLack: @escaping @Sendable (DropPath) -> Waiting? = { @Sendable _ in nil }) {
        self.rule = rule
        self.usualLack = usualLack
    }

    /// The number of waiting candidates, without refused and ignored ones.
    package var waitingCount: Int { candidates.count - parked }

    /// All candidates, in no order.
    package var keys: some Sequence<DropPath> { candidates.slots.lazy.map { candidates.key(of: $0) } }

    /// Whether the candidate is known.
    package func contains(_ key: DropPath) -> Bool { candidates.find(key) != nil }

    /// When the next sample is due; nil when none is.
    package var nextDue: MonotonicTime? { candidates.first.flatMap(nextSample) }

    /// Something was heard of the candidate: it appeared, or may have changed.
    package mutating func touch(_ key: DropPath, at now: MonotonicTime) {
        guard let slot = candidates.find(key) else {
            return schedule(candidates.insert(key, Candidate(at: now)), at: now)
        }
        let candidate = candidates[slot]
        remark(slot, nil)
        if candidate.marks.contains(.parked) {
            candidates[slot].marks.subtract([.parked, .sampled])
            parked -= 1
            schedule(slot, at: now)
        } else if candidate.marks.isDisjoint(with: .touched), candidate.marks.contains(.sampled) {
            candidates[slot].marks.insert(.touched)
            guard candidate.marks.isDisjoint(with: .ceded) else { return }
            // A file that is being written is touched a thousand times a second; one sample per pause is enough.
            let pause = min(Self.shortestPause, max(Self.firstPause, (now - candidate.admitted) / 16))
            schedule(slot, at: max(now, min(candidate.since, now) + pause))
        }
        // Else the sample that takes this touch in is due already.
    }

    /// Something that has to come with the candidate may have come, or changed: it is examined again, without losing
    /// the time that it has stood still.
    package mutating func recheck(_ key: DropPath, at now: MonotonicTime) {
        if let slot = candidates.find(key) { recheck(slot, at: now) }
    }

    private mutating func recheck(_ slot: Slot, at now: MonotonicTime) {
        let candidate = candidates[slot]
        let due = nextSample(of: slot) ?? .distantFuture
        guard candidate.marks.isDisjoint(with: [.parked, .touched, .asked, .ceded]), due > now else { return }
        let end = candidate.marks.contains(.sampled) ? candidate.since + quiet(forSize: candidate.size) : now
        if end < due { schedule(slot, at: max(now, end)) }
    }

    /// The sample that was asked for could not be taken: it is asked for again at that time.
    package mutating func postpone(_ key: DropPath, to due: MonotonicTime) {
        guard let slot = candidates.find(key), candidates[slot].marks.isDisjoint(with: .parked) else {
            return touch(key, at: due)
        }
        schedule(slot, at: due)
    }

    /// Somebody else is to take the candidate first: no sample of it is due until that is reclaimed.
    package mutating func cede(_ key: DropPath) {
        guard let slot = candidates.find(key), candidates[slot].marks.isDisjoint(with: .parked) else { return }
        leaveOut(slot)
        candidates[slot].marks.insert(.ceded)
    }

    /// Nobody else took it: a sample to take now, as by `due`; nil where it is not ceded, or gone.
    package mutating func reclaim(_ key: DropPath, at now: MonotonicTime) -> Request? {
        candidates.find(key).flatMap { candidates[$0].marks.contains(.ceded) ? ask($0, at: now) : nil }
    }

    /// The candidate cannot be taken as it is: kept in mind until it is touched or vanishes.
    package mutating func refuse(_ key: DropPath, because reason: String, at now: MonotonicTime) {
        let slot = candidates.find(key) ?? candidates.insert(key, Candidate(at: now))
        candidates[slot].marks.remove(.sampled)
        remark(slot, .refused(reason))
        park(slot)
    }

    /// Looks again at what was refused or ignored, or lacks something: for inboxes without events for every change.
    package mutating func touchParked(at now: MonotonicTime) {
        for slot in Array(candidates.slots) {
            if candidates[slot].marks.contains(.parked) {
                touch(candidates.key(of: slot), at: now)
            } else if lacks(slot), remarks[slot]?.isUndetermined != true {
                recheck(slot, at: now)
            }
        }
    }

    /// The candidate is gone.
    package mutating func forget(_ key: DropPath) {
        if let slot = candidates.find(key) { forget(slot) }
    }

    private mutating func forget(_ slot: Slot) {
        if candidates[slot].marks.contains(.parked) { parked -= 1 }
        remark(slot, nil)
        growth[slot] = nil
        let moved = candidates.remove(slot)
        holds.forget(slot, for: moved)
        if let moved {
            remarks[slot] = remarks.removeValue(forKey: moved)
            growth[slot] = growth.removeValue(forKey: moved)
        }
    }

    /// The candidates to sample now, at most `limit`. Each has to be answered by `record`.
    package mutating func due(at now: MonotonicTime, limit: Int = .max) -> [Request] {
        var requests: [Request] = []
        while requests.count < limit, let slot = candidates.first, let due = nextSample(of: slot), due <= now {
            requests.append(ask(slot, at: now))
        }
        return requests
    }

    private mutating func ask(_ slot: Slot, at now: MonotonicTime) -> Request {
        candidates.dequeue(slot)
        let candidate = candidates[slot]
        let isUntouched = candidate.marks.intersection([.sampled, .touched]) == .sampled
        let mayDecide = isUntouched && now - candidate.since >= quiet(forSize: candidate.size)
        candidates[slot].marks.set(.mayDecide, mayDecide)
        candidates[slot].marks.remove(.ceded)
        candidates[slot].marks.insert(.asked)
        return Request(key: candidates.key(of: slot), deciding: mayDecide)
    }

    /// Takes in a sample that `due` asked for. `lacking`: what has to come with the candidate and is not there, if the
    /// sample was to decide. `cost`: how long it took to take.
    package mutating func record(
        _ sample: Sample, of key: DropPath, at now: MonotonicTime, lacking: Waiting? = nil, cost: Duration = .zero
    ) -> Decision {
        guard let slot = candidates.find(key) else { return .vanished }
        switch sample {
        case .gone:
            forget(slot)
            return .vanished
        case .refused(let reason):
            refuse(key, because: reason, at: now)
            return .refused(reason)
        case .file(let fingerprint, let writers):
            let (decision, due) = judge(slot, fingerprint, writers, lacking, cost * Self.restForLooks, now)
            holds.saw(remarks[slot], of: slot, at: now)
            // A long read is not the drop's fault; the reader announces its end.
            if decision == .waiting(.lacking), let lacking, lacking.isUnderWay {
                leaveOut(slot)
                return decision
            }
            if case .waiting = decision, isOverdue(slot, now) { return overdue(key, fingerprint, now) }
            switch decision {
            case .waiting: schedule(slot, at: due)
            case .ignored: park(slot)
            default: forget(slot)
            }
            return decision
        case .blocked(let errno, let fingerprint):
            // Once may be chance.
            if case .blocked? = remarks[slot] { candidates[slot].marks.insert(.disturbed) }
            remark(slot, .blocked("\(errno)"))
            holds.saw(remarks[slot], of: slot, at: now)
            if isOverdue(slot, now) { return overdue(key, fingerprint ?? .unknown(), now) }
            schedule(slot, at: now + Self.blockedPause)
            return .waiting(.blocked)
        }
    }

    private func isOverdue(_ slot: Slot, _ now: MonotonicTime) -> Bool {
        rule.timeout.map { now >= candidates[slot].admitted + $0 } ?? false
    }

    private mutating func overdue(_ key: DropPath, _ fingerprint: Fingerprint, _ now: MonotonicTime) -> Decision {
        let waiting = waiting(for: key, at: now) ?? .unseen
        forget(key)
        return .overdue(fingerprint, waiting)
    }

    /// What a sample of a file says, with the time of the next one.
    private mutating func judge(
        _ slot: Slot, _ fingerprint: Fingerprint, _ writers: OpenWriters, _ lacking: Waiting?, _ rest: Duration,
        _ now: MonotonicTime
    ) -> (Decision, due: MonotonicTime) {
        let candidate = candidates[slot]
        let quiet = quiet(forSize: fingerprint.size)
        remark(slot, nil)
        if candidate.marks.contains(.touched) || !candidate.isStill(fingerprint) {
            begin(slot, fingerprint, now)
            return (.waiting(candidate.marks.contains(.sampled) ? .changing : .quiet), now + quiet)
        }
        let end = candidate.since + quiet
        guard now >= end else { return (.waiting(.quiet), end) }
        guard candidate.marks.contains(.mayDecide), !rule.waitsForWriters || writers != .notAsked else {
            return (.waiting(.quiet), now)
        }
        if rule.waitsForWriters {
            if case .some(let writer) = writers {
                candidates[slot].marks.insert(.disturbed)
                remark(slot, .heldOpen(writer))
                let pause = max(.milliseconds(50), min(rule.quiet, .seconds(1)))
                return (.waiting(.openWriter), now + (rule.isForFolders ? max(pause, rest) : pause))
            }
            let blindQuiet = max(rule.blindQuiet, quiet)
            if writers == .unknown, now < candidate.since + blindQuiet {
                remark(slot, .blind(for: now - candidate.since, of: blindQuiet))
                return (.waiting(.quiet), candidate.since + blindQuiet)
            }
        }
        if fingerprint.size == 0, rule.ignoresEmpty {
            remark(slot, .ignoredEmpty)
            return (.ignored, .distantFuture)
        }
        guard let lacking else { return (.ready(fingerprint), now) }
        remark(slot, lacking)
        let pause = Self.pause(for: lacking, ofFolder: rule.isForFolders)
        return (.waiting(.lacking), pause.map { now + max($0, rest) } ?? .distantFuture)
    }

    /// The wait begins or restarts: this state is new, or the candidate was touched.
    private mutating func begin(_ slot: Slot, _ fingerprint: Fingerprint, _ now: MonotonicTime) {
        let before = candidates[slot]
        if before.marks.contains(.sampled), !before.isStill(fingerprint) {
            candidates[slot].marks.insert(.disturbed)
            growth[slot] = (growth[slot] ?? 0).addingSaturated(fingerprint.size.subtractingSaturated(before.size))
        }
        candidates[slot].state = fingerprint.hashValue
        candidates[slot].size = fingerprint.size
        candidates[slot].since = now
        candidates[slot].marks.insert(.sampled)
        candidates[slot].marks.remove(.touched)
    }

    private func quiet(forSize size: Int64) -> Duration { size == 0 ? rule.quiet * Self.emptyFactor : rule.quiet }

    private func lacks(_ slot: Slot) -> Bool {
        candidates[slot].marks.contains(.lacksTheUsual) || remarks[slot]?.isLack ?? false
    }

    private mutating func remark(_ slot: Slot, _ remark: Waiting?) {
        let isUsual = remark != nil && usualLack(candidates.key(of: slot)) == remark
        candidates[slot].marks.set(.lacksTheUsual, isUsual)
        if isUsual { remarks[slot] = nil } else { remarks[slot] = remark }
    }

    private mutating func park(_ slot: Slot) {
        if candidates[slot].marks.isDisjoint(with: .parked) { parked += 1 }
        candidates[slot].marks.insert(.parked)
        leaveOut(slot)
    }

    /// When its next sample is due; nil where it was asked for, or something has to be heard of first.
    private func nextSample(of slot: Slot) -> MonotonicTime? {
        candidates.rank(of: slot).map { MonotonicTime(nanoseconds: $0) }
    }

    private mutating func schedule(_ slot: Slot, at due: MonotonicTime) {
        // A candidate past its timeout is examined once more.
        let deadline = rule.timeout.map { candidates[slot].admitted + $0 } ?? .distantFuture
        guard min(due, deadline) < .distantFuture else { return leaveOut(slot) }
        candidates[slot].marks.subtract([.asked, .ceded])
        candidates.enqueue(slot, rank: min(due, deadline).nanoseconds)
    }

    /// No sample of it is due until something is heard of it.
    private mutating func leaveOut(_ slot: Slot) {
        candidates[slot].marks.remove(.asked)
        candidates.dequeue(slot)
    }
}

/// The gate's report on waiting candidates.
extension ReadyGate {
    /// What the candidate waits for; nil where it is not known.
    package func waiting(for key: DropPath, at now: MonotonicTime) -> Waiting? {
        guard let slot = candidates.find(key) else { return nil }
        let candidate = candidates[slot]
        let passed = max(.zero, now - candidate.since)
        if candidate.marks.contains(.ceded) { return .ceded }
        if candidate.marks.contains(.lacksTheUsual) { return usualLack(key) }
        switch remarks[slot] {
        case .blind(_, let whole): return .blind(for: passed, of: whole)
        case let remark?: return remark
        case nil: break
        }
        guard candidate.marks.contains(.sampled) else { return .unseen }
        let whole = quiet(forSize: candidate.size)
        if candidate.size == 0 { return .empty(for: passed, of: whole) }
        guard !candidate.marks.isDisjoint(with: [.disturbed, .touched]) else {
            return .quiet(for: passed, of: whole)
        }
        // Writers write in bursts: only the mean of some time says how fast they are.
        let time = max(1, (candidate.since - candidate.admitted).seconds)
        let rate = Int64(saturating: Double(growth[slot] ?? 0) / time)
        return rate > 0
            ? .growing(bytesPerSecond: rate, for: passed, of: whole) : .changing(for: passed, of: whole)
    }

    /// When the candidate was first heard of; nil where it is not known.
    package func admitted(_ key: DropPath) -> MonotonicTime? { candidates.find(key).map { candidates[$0].admitted } }

    /// What has held the candidate besides the time for which all have to stand still.
    package func held(_ key: DropPath, at now: MonotonicTime) -> [GateHold] {
        guard let slot = candidates.find(key) else { return [] }
        let candidate = candidates[slot]
        var holds = holds.holds(of: slot, at: now)
        if let growth = growth[slot] {
            // It may have been held open meanwhile.
            let earlier = holds.filter { $0.since < candidate.since }
            let time = earlier.reduce(candidate.since - candidate.admitted) { $0 - $1.time }
            let waiting: Waiting =
                growth > 0
                ? .growing(bytesPerSecond: 0, for: .zero, of: .zero) : .changing(for: .zero, of: .zero)
            if time > .zero { holds.insert(GateHold(waiting: waiting, since: candidate.admitted, time: time), at: 0) }
        }
        if candidate.marks.contains(.lacksTheUsual), let lack = usualLack(key) {
            let since = candidate.since + quiet(forSize: candidate.size)
            holds.append(GateHold(waiting: lack, since: since, time: max(.zero, now - since)))
        }
        return holds
    }

    /// The waiting candidates known for longest, longest first.
    package func longest(_ limit: Int) -> [DropPath] {
        var longest: [(admitted: MonotonicTime, slot: Slot)] = []
        func cut() {
            longest.sort { $0.admitted < $1.admitted }
            longest.removeLast(max(0, longest.count - limit))
        }
        for slot in candidates.slots where candidates[slot].marks.isDisjoint(with: .parked) {
            longest.append((candidates[slot].admitted, slot))
            // Twice as many as are wanted, so that a sort is paid for by as many candidates as it leaves.
            if longest.count / 2 > limit { cut() }
        }
        cut()
        return longest.map { candidates.key(of: $0.slot) }
    }

    /// Calls the body with each waiting candidate and since when it is known.
    package func forEachWaiting(_ body: (DropPath, MonotonicTime) -> Void) {
        for slot in candidates.slots where candidates[slot].marks.isDisjoint(with: .parked) {
            body(candidates.key(of: slot), candidates[slot].admitted)
        }
    }

    /// Its bytes, as they were seen last; nil where it is not known.
    package func size(of key: DropPath) -> Int64? { candidates.find(key).map { candidates[$0].size } }

    /// The candidates that are still waited for, with whether each was seen to change or held open since it is known,
    /// or lacks something that nothing but its sender can bring.
    package var waiting: [(key: DropPath, isDisturbed: Bool)] {
        candidates.slots.compactMap { slot in
            let marks = candidates[slot].marks
            guard marks.isDisjoint(with: .parked) else { return nil }
            return (
                candidates.key(of: slot), marks.contains(.disturbed) || lacks(slot) && remarks[slot]?.isUnderWay != true
            )
        }
    }
}

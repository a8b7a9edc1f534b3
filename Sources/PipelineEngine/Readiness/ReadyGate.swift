import HeapModule
package import PipelineKit

/// Decides when a drop is complete. Pure: times and samples go in, decisions come out.
///
/// A candidate is ready once two samples at least `quiet` apart are equal, nothing touched it in between, no process
/// has it open for writing, and nothing that has to come with it is lacking. The wait begins at the first sample after
/// the last touch. Candidates are sampled only when due.
package struct ReadyGate<Key: Hashable & Sendable>: Sendable {
    private struct Candidate {
        var fingerprint: Fingerprint?
        /// When it was first heard of.
        let admitted: MonotonicTime
        /// When `fingerprint` was first seen, without a touch since.
        var since: MonotonicTime
        var due: MonotonicTime
        /// Bytes a second that it last grew by.
        var growth: Float = 0
        var isTouched = false
        /// Whether it was ever seen to change, or held open.
        var isDisturbed = false
        /// Out of the schedule: refused or ignored, until touched.
        var isParked = false
        /// Whether the sample that was asked for may decide.
        var mayDecide = false

        init(at now: MonotonicTime) {
            admitted = now
            since = now
            due = now
        }
    }

    private struct Appointment: Comparable {
        let due: MonotonicTime
        let key: Key
        static func < (left: Appointment, right: Appointment) -> Bool { left.due < right.due }
        static func == (left: Appointment, right: Appointment) -> Bool { left.due == right.due }
    }

    private let rule: ReadyRule
    private var candidates: [Key: Candidate] = [:]
    private var schedule = Heap<Appointment>()
    /// What is to be said of candidates that wait for more than time; few have any.
    private var remarks: [Key: Waiting] = [:]
    /// How many candidates are parked.
    private var parked = 0

    /// Samples of a candidate that is being written are at least this far apart.
    package static var shortestPause: Duration { .milliseconds(5) }

    /// How much longer an empty file must stand still: writers often create a file some time before they fill it.
    package static var emptyFactor: Int { 5 }

    /// Between two looks at a folder that lacks something: as often as an inbox is looked through without events.
    package static var folderPause: Duration { .seconds(2) }

    /// And at least so many times what one look took: no more than a twentieth of the time goes into them.
    private static var restForLooks: Int { 20 }

    /// A gate with a rule.
    package init(rule: ReadyRule) { self.rule = rule }

    /// How many candidates are waited for: those that are refused or ignored are left out.
    package var waitingCount: Int { candidates.count - parked }

    /// Whether the candidate is known.
    package func contains(_ key: Key) -> Bool { candidates[key] != nil }

    /// When the next sample is due; nil when none is.
    package var nextDue: MonotonicTime? { schedule.min?.due }

    /// Something was heard of the candidate: it appeared, or may have changed.
    package mutating func touch(_ key: Key, at now: MonotonicTime) {
        guard var candidate = candidates[key] else {
            candidates[key] = Candidate(at: now)
            schedule.insert(Appointment(due: now, key: key))
            return
        }
        remarks[key] = nil
        if candidate.isParked {
            candidate.isParked = false
            parked -= 1
            candidate.fingerprint = nil
            schedule(key, &candidate, at: now)
        } else if candidate.fingerprint != nil, !candidate.isTouched {
            candidate.isTouched = true
            // A file that is being written is touched a thousand times a second; one sample per pause is enough.
            schedule(key, &candidate, at: max(now, min(candidate.since, now) + Self.shortestPause))
        }
        // Else the sample that takes this touch in is due already.
    }

    /// Something that has to come with the candidate may have come, or changed: it is looked at again, without losing
    /// the time that it has stood still.
    package mutating func recheck(_ key: Key, at now: MonotonicTime) {
        guard var candidate = candidates[key], !candidate.isParked, candidate.due > now else { return }
        let end = candidate.fingerprint.map { candidate.since + quiet(for: $0) } ?? now
        if !candidate.isTouched, end < candidate.due { schedule(key, &candidate, at: max(now, end)) }
    }

    /// The sample that was asked for could not be taken: it is asked for again at that time.
    package mutating func postpone(_ key: Key, to due: MonotonicTime) {
        guard var candidate = candidates[key], !candidate.isParked else { return touch(key, at: due) }
        schedule(key, &candidate, at: due)
    }

    /// The candidate cannot be taken as it is: kept in mind until it is touched or vanishes.
    package mutating func refuse(_ key: Key, because reason: String, at now: MonotonicTime) {
        var candidate = candidates[key] ?? Candidate(at: now)
        candidate.fingerprint = nil
        remarks[key] = .refused(reason)
        park(key, &candidate)
    }

    /// Looks again at what was refused or ignored, or lacks something: for those that are not told of every change.
    package mutating func touchParked(at now: MonotonicTime) {
        for key in remarks.filter({ $0.value.isLack }).map(\.key) { recheck(key, at: now) }
        guard parked > 0 else { return }
        for key in candidates.filter({ $0.value.isParked }).map(\.key) { touch(key, at: now) }
    }

    /// The candidate is gone.
    package mutating func forget(_ key: Key) {
        if candidates.removeValue(forKey: key)?.isParked == true { parked -= 1 }
        remarks[key] = nil
    }

    /// The candidates to sample now, at most `limit`. Each has to be answered by `record`.
    package mutating func due(at now: MonotonicTime, limit: Int = .max) -> [Request] {
        var requests: [Request] = []
        while requests.count < limit, let first = schedule.min, first.due <= now {
            schedule.removeMin()
            // Appointments of candidates that are gone or have another one by now are void.
            guard var candidate = candidates[first.key], candidate.due == first.due, !candidate.isParked else {
                continue
            }
            candidate.mayDecide =
                candidate.fingerprint.map { !candidate.isTouched && now - candidate.since >= quiet(for: $0) } ?? false
            candidates[first.key] = candidate
            requests.append(Request(key: first.key, deciding: candidate.mayDecide))
        }
        return requests
    }

    /// Takes in a sample that `due` asked for. `lacking`: what has to come with the candidate and is not there, if the
    /// sample was to decide. `cost`: how long it took to take.
    package mutating func record(
        _ sample: Sample, of key: Key, at now: MonotonicTime, lacking: Waiting? = nil, cost: Duration = .zero
    ) -> Decision {
        guard var candidate = candidates[key] else { return .vanished }
        switch sample {
        case .gone:
            forget(key)
            return .vanished
        case .refused(let reason):
            refuse(key, because: reason, at: now)
            return .refused(reason)
        case .file(let fingerprint, let writers):
            let decision = judge(&candidate, fingerprint, writers, lacking, cost * Self.restForLooks, key, now)
            if case .waiting = decision, let timeout = rule.timeout, now >= candidate.admitted + timeout {
                candidates[key] = candidate
                let waiting = waiting(for: key, at: now) ?? .unseen
                forget(key)
                return .overdue(fingerprint, waiting)
            }
            switch decision {
            case .waiting: schedule(key, &candidate, at: candidate.due)
            case .ignored: park(key, &candidate)
            default: forget(key)
            }
            return decision
        }
    }

    /// What a sample of a file says, with the time of the next one.
    private mutating func judge(
        _ candidate: inout Candidate, _ fingerprint: Fingerprint, _ writers: OpenWriters, _ lacking: Waiting?,
        _ rest: Duration, _ key: Key, _ now: MonotonicTime
    ) -> Decision {
        remarks[key] = nil
        if candidate.isTouched || candidate.fingerprint != fingerprint {
            let isFirst = candidate.fingerprint == nil
            if let before = candidate.fingerprint, before != fingerprint {
                candidate.isDisturbed = true
                let seconds = max((now - candidate.since).seconds, 1e-3)
                let rate = Float(Double(fingerprint.size - before.size) / seconds)
                // Writers write in bursts: the mean tells more than the last one.
                candidate.growth = candidate.growth == 0 ? rate : 0.8 * candidate.growth + 0.2 * rate
            }
            candidate.fingerprint = fingerprint
            candidate.since = now
            candidate.isTouched = false
            candidate.due = now + quiet(for: fingerprint)
            return .waiting(isFirst ? .quiet : .changing)
        }
        let end = candidate.since + quiet(for: fingerprint)
        guard now >= end else {
            candidate.due = end
            return .waiting(.quiet)
        }
        guard candidate.mayDecide, rule.writers == .ignore || writers != .notAsked else {
            candidate.due = now
            return .waiting(.quiet)
        }
        if rule.writers == .wait {
            if case .some(let writer) = writers {
                candidate.isDisturbed = true
                remarks[key] = .heldOpen(writer)
                let pause = max(.milliseconds(50), min(rule.quiet, .seconds(1)))
                candidate.due = now + (rule.unit == .folder ? max(pause, rest) : pause)
                return .waiting(.openWriter)
            }
            let blindQuiet = max(rule.blindQuiet, quiet(for: fingerprint))
            if writers == .unknown, now < candidate.since + blindQuiet {
                remarks[key] = .blind(for: now - candidate.since, of: blindQuiet)
                candidate.due = candidate.since + blindQuiet
                return .waiting(.quiet)
            }
        }
        if fingerprint.size == 0, rule.empty == .ignore {
            remarks[key] = .ignoredEmpty
            return .ignored
        }
        guard let lacking else { return .ready(fingerprint) }
        remarks[key] = lacking
        // Whoever brings it will say so, be it an event or a digest that is done; but nothing tells of what happens
        // inside a dropped folder.
        candidate.due = rule.unit == .folder && lacking != .verifying ? now + max(Self.folderPause, rest) : .distantFuture
        return .waiting(.lacking)
    }

    /// What the candidate waits for; nil where it is not known.
    package func waiting(for key: Key, at now: MonotonicTime) -> Waiting? {
        guard let candidate = candidates[key] else { return nil }
        let passed = now - candidate.since
        switch remarks[key] {
        case .blind(_, let whole): return .blind(for: passed, of: whole)
        case let remark?: return remark
        case nil: break
        }
        guard let fingerprint = candidate.fingerprint else { return .unseen }
        let whole = quiet(for: fingerprint)
        if fingerprint.size == 0 { return .empty(for: passed, of: whole) }
        guard candidate.isDisturbed || candidate.isTouched else { return .quiet(for: passed, of: whole) }
        let rate = Int64(candidate.growth)
        return rate > 0
            ? .growing(bytesPerSecond: rate, for: passed, of: whole) : .changing(for: passed, of: whole)
    }

    /// When the candidate was first heard of; nil where it is not known.
    package func admitted(_ key: Key) -> MonotonicTime? { candidates[key]?.admitted }

    /// Those that are waited for and have been known for longest, the longest first.
    package func longest(_ limit: Int) -> [Key] {
        // A heap of appointments whose time is past.
        var longest = Heap<Appointment>()
        for (key, candidate) in candidates where !candidate.isParked {
            let admission = Appointment(due: candidate.admitted, key: key)
            if longest.count < limit {
                longest.insert(admission)
            } else if let last = longest.max, admission < last {
                longest.replaceMax(with: admission)
            }
        }
        var keys: [Key] = []
        while let next = longest.popMin() { keys.append(next.key) }
        return keys
    }

    /// The candidates that are still waited for, with whether each was seen to change or held open since it is known,
    /// or lacks something that nothing but its sender can bring.
    package var waiting: [(key: Key, isDisturbed: Bool)] {
        candidates.lazy.filter { !$0.value.isParked }
            .map { ($0.key, $0.value.isDisturbed || remarks[$0.key].map { $0.isLack && $0 != .verifying } ?? false) }
    }

    private func quiet(for fingerprint: Fingerprint) -> Duration {
        fingerprint.size == 0 ? rule.quiet * Self.emptyFactor : rule.quiet
    }

    private mutating func park(_ key: Key, _ candidate: inout Candidate) {
        if !candidate.isParked { parked += 1 }
        candidate.isParked = true
        candidates[key] = candidate
    }

    private mutating func schedule(_ key: Key, _ candidate: inout Candidate, at due: MonotonicTime) {
        // One that takes too long is looked at once more when its time is over.
        let deadline = rule.timeout.map { candidate.admitted + $0 } ?? .distantFuture
        candidate.due = min(due, deadline)
        candidates[key] = candidate
        if candidate.due < .distantFuture { schedule.insert(Appointment(due: candidate.due, key: key)) }
    }
}

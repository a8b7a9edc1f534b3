import HeapModule
package import PipelineKit

/// Decides when a drop is complete. Pure: times and samples go in, decisions come out.
///
/// A candidate is ready once two samples at least `quiet` apart are equal, nothing touched it in between, and no
/// process has it open for writing. The wait begins at the first sample after the last touch. Candidates are sampled
/// only when due.
package struct ReadyGate<Key: Hashable & Sendable>: Sendable {
    /// A sample that is to be taken now.
    package struct Request: Sendable, Equatable {
        /// Of which candidate.
        package let key: Key
        /// Whether it may be the deciding one, so that open writers are to be asked for.
        package let deciding: Bool
    }

    /// What a sample led to.
    package enum Decision: Sendable, Equatable {
        /// Not yet; why.
        case waiting(Reason)
        /// Complete, in this state. The candidate is no longer in the gate.
        case ready(Fingerprint)
        /// It is gone, and forgotten.
        case vanished
        /// Never taken as it is; kept in mind until it is touched or vanishes.
        case refused(String)
        /// Empty, and empty files are ignored; looked at again when touched.
        case ignored
    }

    /// Why a candidate waits.
    package enum Reason: Sendable, Equatable {
        /// It has to stand still for the quiet time.
        case quiet
        /// It changed since the last sample.
        case changing
        /// Some process has it open for writing.
        case openWriter
    }

    private struct Candidate {
        /// Since when it is known.
        var known: MonotonicTime
        var fingerprint: Fingerprint?
        /// What was found when it was looked at last.
        var finding = Finding.unseen
        /// When `fingerprint` was first seen, without a touch since.
        var since: MonotonicTime
        var due: MonotonicTime
        var isTouched = false
        /// Whether it was ever seen to change, or held open.
        var isDisturbed = false
        /// Out of the schedule: refused or ignored, until touched.
        var isParked = false
    }

    private enum Finding: Sendable {
        case unseen, standing, blind, changing, openWriter
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
    /// How many candidates are parked.
    private var parked = 0

    /// Samples of a candidate that is being written are at least this far apart.
    package static var shortestPause: Duration { .milliseconds(5) }

    /// How much longer an empty file must stand still: writers often create a file some time before they fill it.
    package static var emptyFactor: Int { 5 }

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
            candidates[key] = Candidate(known: now, since: now, due: now)
            schedule.insert(Appointment(due: now, key: key))
            return
        }
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

    /// The sample that was asked for could not be taken: it is asked for again at that time.
    package mutating func postpone(_ key: Key, to due: MonotonicTime) {
        guard var candidate = candidates[key], !candidate.isParked else { return touch(key, at: due) }
        schedule(key, &candidate, at: due)
    }

    /// The candidate cannot be taken as it is: kept in mind until it is touched or vanishes.
    package mutating func refuse(_ key: Key, at now: MonotonicTime) {
        var candidate = candidates[key] ?? Candidate(known: now, since: now, due: now)
        candidate.fingerprint = nil
        park(key, &candidate)
    }

    /// Looks again at what was refused or ignored: for those that are not told of every change.
    package mutating func touchParked(at now: MonotonicTime) {
        guard parked > 0 else { return }
        for key in candidates.filter({ $0.value.isParked }).map(\.key) { touch(key, at: now) }
    }

    /// The candidate is gone.
    package mutating func forget(_ key: Key) {
        if candidates.removeValue(forKey: key)?.isParked == true { parked -= 1 }
    }

    /// The candidates to sample now, at most `limit`. Each has to be answered by `record`.
    package mutating func due(at now: MonotonicTime, limit: Int = .max) -> [Request] {
        var requests: [Request] = []
        while requests.count < limit, let first = schedule.min, first.due <= now {
            schedule.removeMin()
            // Appointments of candidates that are gone or have another one by now are void.
            guard let candidate = candidates[first.key], candidate.due == first.due, !candidate.isParked else {
                continue
            }
            let deciding = candidate.fingerprint != nil && !candidate.isTouched && now - candidate.since >= rule.quiet
            requests.append(Request(key: first.key, deciding: deciding && rule.writers == .wait))
        }
        return requests
    }

    /// Takes in a sample that `due` asked for.
    package mutating func record(_ sample: Sample, of key: Key, at now: MonotonicTime) -> Decision {
        guard var candidate = candidates[key] else { return .vanished }
        switch sample {
        case .gone:
            forget(key)
            return .vanished
        case .refused(let reason):
            candidate.fingerprint = nil
            park(key, &candidate)
            return .refused(reason)
        case .file(let fingerprint, let writers):
            let isFirst = candidate.fingerprint == nil
            if candidate.isTouched || candidate.fingerprint != fingerprint {
                if candidate.fingerprint.map({ $0 != fingerprint }) ?? false { candidate.isDisturbed = true }
                candidate.fingerprint = fingerprint
                candidate.since = now
                candidate.isTouched = false
                candidate.finding = isFirst ? .standing : .changing
                schedule(key, &candidate, at: now + quiet(for: fingerprint))
                return .waiting(isFirst ? .quiet : .changing)
            }
            let end = candidate.since + quiet(for: fingerprint)
            guard now >= end else {
                schedule(key, &candidate, at: end)
                return .waiting(.quiet)
            }
            let blindEnd = candidate.since + max(rule.blindQuiet, quiet(for: fingerprint))
            if rule.writers == .wait, writers == .unknown, now < blindEnd {
                candidate.finding = .blind
                schedule(key, &candidate, at: blindEnd)
                return .waiting(.quiet)
            }
            if rule.writers == .wait, writers == .notAsked {
                schedule(key, &candidate, at: now)
                return .waiting(.quiet)
            }
            if rule.writers == .wait, writers == .some {
                candidate.isDisturbed = true
                candidate.finding = .openWriter
                schedule(key, &candidate, at: now + max(.milliseconds(50), min(rule.quiet, .seconds(1))))
                return .waiting(.openWriter)
            }
            if fingerprint.size == 0, rule.empty == .ignore {
                park(key, &candidate)
                return .ignored
            }
            candidates[key] = nil
            return .ready(fingerprint)
        }
    }

    /// The candidates that are still waited for, with whether each was seen to change or held open since it is known.
    package var waiting: [(key: Key, isDisturbed: Bool)] {
        candidates.lazy.filter { !$0.value.isParked }.map { ($0.key, $0.value.isDisturbed) }
    }

    /// What a candidate waits for, and since when it is known; nil for one that is not waited for.
    package func standing(of key: Key, at now: MonotonicTime) -> (known: MonotonicTime, waiting: Waiting)? {
        guard let candidate = candidates[key], !candidate.isParked else { return nil }
        return (candidate.known, waiting(candidate, at: now))
    }

    /// Those of the candidates that have been known for longest, the longest first.
    package func longest(_ limit: Int) -> [Key] {
        var longest = Heap<Acquaintance>()
        for (key, candidate) in candidates where !candidate.isParked {
            let acquaintance = Acquaintance(known: candidate.known, key: key)
            if longest.count < limit {
                longest.insert(acquaintance)
            } else if let last = longest.max, acquaintance < last {
                longest.replaceMax(with: acquaintance)
            }
        }
        var keys: [Key] = []
        while let next = longest.popMin() { keys.append(next.key) }
        return keys
    }

    private struct Acquaintance: Comparable {
        let known: MonotonicTime
        let key: Key
        static func < (left: Acquaintance, right: Acquaintance) -> Bool { left.known < right.known }
        static func == (left: Acquaintance, right: Acquaintance) -> Bool { left.known == right.known }
    }

    private func waiting(_ candidate: Candidate, at now: MonotonicTime) -> Waiting {
        guard let fingerprint = candidate.fingerprint else { return .unseen }
        let (quiet, passed) = (quiet(for: fingerprint), candidate.isTouched ? .zero : now - candidate.since)
        switch candidate.finding {
        case .openWriter: return .heldOpen(.unknown)
        case .blind: return .blind(for: passed, of: max(rule.blindQuiet, quiet))
        case .changing: return .changing(for: passed, of: quiet)
        case .unseen, .standing:
            if candidate.isTouched { return .changing(for: passed, of: quiet) }
            return fingerprint.size == 0 ? .empty(for: passed, of: quiet) : .quiet(for: passed, of: quiet)
        }
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
        candidate.due = due
        candidates[key] = candidate
        schedule.insert(Appointment(due: due, key: key))
    }
}

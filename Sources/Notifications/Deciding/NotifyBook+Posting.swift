package import Files
package import Journal
import PipelineKit

extension NotifyBook {
    /// Puts what is to be told now where it waits to be sent. What is returned is to be put on record before anything
    /// is sent.
    package mutating func post(
        _ figures: [String: Figures]?, _ failures: Failures, at now: Timestamp
    ) throws(JournalError) -> OutboxChange {
        var change = OutboxChange()
        for rule in rules {
            let keys = standings.keys.filter { $0.rule == rule.identity && pending[$0] == nil }
            for key in keys.sorted(by: { ($0.pipeline, $0.event) < ($1.pipeline, $1.event) }) {
                guard let event = NotifyEvent(rawValue: key.event), let standing = standings[key] else { continue }
                let notice: Notice?
                switch standing.content {
                case .failures(let digest): notice = try post(digest, key, rule, figures, failures, at: now)
                case .trouble(let trouble, let quiet): notice = post(trouble, quiet, event, key, rule, at: now)
                }
                if let notice {
                    pending[key] = notice
                    change.notices.append(notice)
                }
                if notice != nil || standings[key]?.isStale(rule.quiet) ?? false { save(key, &change) }
            }
        }
        for key in gone where pending[key] == nil && !isToBeTold(key, figures) {
            change.forgotten.append(key)
            change.standings.removeAll { $0.key == key }
            standings[key] = nil
        }
        gone = gone.filter { standings[$0] != nil }
        return change
    }

    private func isToBeTold(_ key: Key, _ figures: [String: Figures]?) -> Bool {
        guard let rule = rules.first(where: { $0.identity == key.rule }), let event = NotifyEvent(rawValue: key.event)
        else { return false }
        switch standings[key]?.content {
        case .failures(var digest)?:
            let counts = figures.map { FailureDigest.counts($0[key.pipeline] ?? Figures()) }
            return counts.map { !digest.pending($0).isEmpty } ?? true
        case .trouble(let trouble, nil)?:
            let scope = Self.scope(event, rule)
            return scope.flatMap { trouble.next($0, rule.digest, at: Timestamp(nanoseconds: .max)) } != nil
        default: return false
        }
    }

    mutating func save(_ key: Key, _ change: inout OutboxChange) {
        guard let standing = standings[key] else { return }
        change.standings.append(NoticeStanding(key, value: standing.value))
        standings[key]?.save()
    }

    private mutating func post(
        _ known: FailureDigest, _ key: Key, _ rule: NotifyRule, _ figures: [String: Figures]?, _ failures: Failures,
        at now: Timestamp
    ) throws(JournalError) -> Notice? {
        guard let figures else { return nil }
        var digest = known
        let counts = FailureDigest.counts(figures[key.pipeline] ?? Figures())
        let untold = digest.pending(counts)
        // Without a word: those of before are another journal's.
        if digest != known { set(key, .failures(digest)) }
        guard !untold.isEmpty else {
            level[key] = now
            return nil
        }
        guard digest.isOpen(rule.digest, at: now) else { return nil }
        let total = untold.reduce(0 as UInt64) { $0.addingSaturated($1.count) }
        let recent = try failures.recent(key.pipeline, digest.marked)
        // A job is on record some time after it is over.
        let since = max(digest.marked, level[key].map { $0.advanced(by: .seconds(-60)) } ?? digest.marked)
        if recent.open == 0, recent.retrying == 0, try failures.count(key.pipeline, since) == total {
            // All of them were sent in again, and went well.
            digest.take(counts, last: recent.last, at: now, isTold: false)
            set(key, .failures(digest))
            return nil
        }
        let words = NoticeText.failures(
            key.pipeline, untold, isMore: digest.isMore(rule.digest, at: now), newest: recent.newest)
        digest.take(counts, last: recent.last, at: now, isTold: true)
        set(key, .failures(digest))
        return Notice(
            rule: key.rule, event: key.event, pipeline: key.pipeline, state: .happened, count: total,
            title: words.title, text: words.text, since: now)
    }

    private mutating func post(
        _ known: TroubleDigest, _ quiet: Quiet?, _ event: NotifyEvent, _ key: Key, _ rule: NotifyRule,
        at now: Timestamp
    ) -> Notice? {
        guard let scope = Self.scope(event, rule) else { return nil }
        guard let news = known.news(scope, rule.digest, at: now) else { return nil }
        let words = NoticeText.trouble(
            event, key.pipeline, news, reason: known.reason, began: known.began, at: now)
        var trouble = known
        trouble.tell(news, at: now)
        set(key, .trouble(trouble, quiet))
        var (state, count) = (Notice.State.over, 1 as UInt64)
        switch news {
        case .begun(let times): (state, count) = (.begun, times)
        case .over: break
        case .passed(let times): count = times
        }
        return Notice(
            rule: key.rule, event: key.event, pipeline: key.pipeline, state: state, count: count, title: words.title,
            text: words.text, since: now)
    }

    /// When something is to be posted or sent next; nil where nothing is known that would be. `isFull`: nothing more is
    /// sent before something of what is under way is over.
    package func next(
        _ figures: [String: Figures]?, at now: Timestamp, besides underWay: [String: String] = [:], isFull: Bool = false
    ) -> Timestamp? {
        let waiting = isFull ? [] : waiting(besides: underWay)
        var next = waiting.map { max($0.next, resting[$0.rule] ?? $0.next) }.min()
        for rule in rules {
            for (key, standing) in standings where key.rule == rule.identity && pending[key] == nil {
                let due: Timestamp?
                switch standing.content {
                case .failures(var digest):
                    let counts = FailureDigest.counts(figures?[key.pipeline] ?? Figures())
                    due =
                        figures == nil || digest.pending(counts).isEmpty
                        ? nil : Window.end(since: digest.told, rule.digest, at: now)
                case .trouble(let trouble, _):
                    let scope = NotifyEvent(rawValue: key.event).flatMap { Self.scope($0, rule) }
                    due = scope.flatMap { trouble.next($0, rule.digest, at: now) }
                }
                if let due { next = min(next ?? due, due) }
            }
        }
        return next
    }
}

package import Files
package import Journal
package import PipelineKit

/// Decides what is told to whom, and when: from what is, and what was told. Time is handed in. What is to be sent waits
/// in it as in the journal: at most one message for each event of a pipeline and a rule, and what comes meanwhile is in
/// the next.
package struct NotifyBook: Sendable {
    package typealias Key = NoticeStanding.Key

    /// Asked for what is needed about failures that are about to be told.
    package struct Failures: Sendable {
        package var recent: @Sendable (_ pipeline: String, _ after: Timestamp) throws(JournalError) -> RecentFailures
        package var count: @Sendable (_ pipeline: String, _ after: Timestamp) throws(JournalError) -> UInt64

        package init(_ outbox: any Outbox) {
            recent = { @Sendable pipeline, time throws(JournalError) in try outbox.failures(of: pipeline, after: time) }
            count = { @Sendable pipeline, time throws(JournalError) in
                try outbox.failureCount(of: pipeline, after: time)
            }
        }
    }

    package private(set) var rules: [NotifyRule] = []
    var standings: [Key: Standing] = [:]
    /// What waits to be sent, by what it is about.
    package internal(set) var pending: [Key: Notice] = [:]
    /// Until when rules wait whose last message could not be sent.
    var resting: [String: Timestamp] = [:]
    /// Standings of pipelines that are gone.
    var gone: Set<Key> = []
    /// When the first look of this run was.
    private var began: Timestamp?
    /// When all failures were told last, as far as this run has seen it: those that are not told came since.
    var level: [Key: Timestamp] = [:]
    /// Whose first counts of this run were seen.
    private var seen: Set<Key> = []

    /// What is on record. What cannot be read is begun anew.
    package init(_ notices: [Notice] = [], _ standings: [NoticeStanding] = []) {
        for standing in standings {
            guard let event = NotifyEvent(rawValue: standing.key.event),
                let read = Standing(event, value: standing.value)
            else { continue }
            self.standings[standing.key] = read
        }
        for notice in notices {
            pending[Key(rule: notice.rule, event: notice.event, pipeline: notice.pipeline)] = notice
        }
    }

    /// Other rules are in force. What is not theirs goes; returns how many messages with it.
    package mutating func adopt(_ rules: [NotifyRule]) -> (OutboxChange, dropped: Int) {
        let known = Set(rules.map(\.identity))
        var change = OutboxChange()
        // One that is gone and one that is new, and alike but for where to: it was corrected.
        let before = Set(pending.keys.map(\.rule) + standings.keys.map(\.rule) + self.rules.map(\.identity))
        let gone = Dictionary(grouping: before.subtracting(known), by: NotifyRule.kin)
        let new = Dictionary(grouping: known.subtracting(before), by: NotifyRule.kin)
        for (kin, old) in gone where old.count == 1 {
            if let new = new[kin], new.count == 1 { rename(old[0], new[0], &change) }
        }
        self.rules = rules
        for (key, notice) in pending where !known.contains(key.rule) {
            change.removed.append(notice.id)
            pending[key] = nil
        }
        for key in standings.keys where !known.contains(key.rule) || !isTold(key) {
            change.forgotten.append(key)
            standings[key] = nil
        }
        resting = resting.filter { known.contains($0.key) }
        level = level.filter { known.contains($0.key.rule) }
        return (change, change.removed.count)
    }

    private mutating func rename(_ old: String, _ new: String, _ change: inout OutboxChange) {
        for (key, notice) in pending where key.rule == old {
            var notice = notice
            notice.rule = new
            pending[key] = nil
            pending[Key(rule: new, event: key.event, pipeline: key.pipeline)] = notice
            change.notices.append(notice)
        }
        for (key, standing) in standings where key.rule == old {
            standings[key] = nil
            change.forgotten.append(key)
            let renamed = Key(rule: new, event: key.event, pipeline: key.pipeline)
            standings[renamed] = standing
            save(renamed, &change)
        }
    }

    private func isTold(_ key: Key) -> Bool {
        guard let rule = rules.first(where: { $0.identity == key.rule }), let event = NotifyEvent(rawValue: key.event)
        else { return false }
        return event == .failed ? rule.events.contains(.failed) : Self.scope(event, rule) != nil
    }

    /// Which of it a rule tells; nil: nothing.
    static func scope(_ event: NotifyEvent, _ rule: NotifyRule) -> TroubleDigest.Scope? {
        if rule.events.contains(event) { return .both }
        return event == .paused && rule.events.contains(.resumed) ? .endsAlone : nil
    }

    // MARK: What is

    /// Trouble has begun; nil: it is over.
    package mutating func note(_ event: NotifyEvent, of pipeline: String, _ reason: String?, at now: Timestamp) {
        for rule in rules where Self.scope(event, rule) != nil && (pipeline.isEmpty || rule.concerns(pipeline)) {
            change(Key(rule: rule.identity, event: event.rawValue, pipeline: pipeline), reason, at: now)
        }
    }

    private mutating func change(_ key: Key, _ reason: String?, at now: Timestamp) {
        var (trouble, quiet) = (TroubleDigest(), Quiet?.none)
        if case .trouble(let known, let since)? = standings[key]?.content {
            (trouble, quiet) = (known, since)
        } else if reason == nil {
            return
        }
        if let reason { trouble.begin(reason, at: now) } else { trouble.end() }
        set(key, .trouble(trouble, quiet))
    }

    mutating func set(_ key: Key, _ content: Standing.Content) {
        if standings[key] == nil { standings[key] = Standing(content) } else { standings[key]?.content = content }
    }

    /// How all is. Whatever is not known to be there is over.
    package mutating func observe(_ look: NotifyLook, _ failures: Failures, at now: Timestamp) throws(JournalError) {
        let began = began ?? now
        self.began = began
        for (event, troubles) in look.troubles {
            for (pipeline, reason) in troubles { note(event, of: pipeline, reason, at: now) }
            for (key, standing) in standings where key.event == event.rawValue && troubles[key.pipeline] == nil {
                if case .trouble(let trouble, _) = standing.content, trouble.isThere { change(key, nil, at: now) }
            }
        }
        for rule in rules {
            for pipeline in look.pipelines where rule.concerns(pipeline) {
                try observe(rule, pipeline, look.figures, failures, at: now, began: began)
            }
        }
        // Trouble may be that of pipelines which are loaded on other nodes alone.
        end(but: Set(look.pipelines).union(look.troubles.values.flatMap(\.keys)), at: now)
    }

    private mutating func observe(
        _ rule: NotifyRule, _ pipeline: String, _ all: [String: Figures]?, _ failures: Failures, at now: Timestamp,
        began: Timestamp
    ) throws(JournalError) {
        guard let all else { return }
        let figures = all[pipeline] ?? Figures()
        let key = Key(rule: rule.identity, event: NotifyEvent.failed.rawValue, pipeline: pipeline)
        if rule.events.contains(.failed), standings[key] == nil {
            let last = try failures.recent(pipeline, now).last
            set(key, .failures(FailureDigest(figures, last: last, at: now)))
        }
        if let limit = rule.quiet { observe(limit, rule, pipeline, figures, at: now, began: began) }
    }

    /// A daemon that has just begun has not had the time to process what came while none ran.
    private static let longestGrace = Duration.seconds(300)

    private mutating func observe(
        _ limit: Duration, _ rule: NotifyRule, _ pipeline: String, _ figures: Figures, at now: Timestamp,
        began: Timestamp
    ) {
        let key = Key(rule: rule.identity, event: NotifyEvent.quiet.rawValue, pipeline: pipeline)
        let processed = figures.ended[.processed]?.jobs ?? 0
        var (trouble, known) = (TroubleDigest(), Quiet(processed: processed, since: now))
        if case .trouble(let told, let quiet)? = standings[key]?.content {
            (trouble, known) = (told, quiet ?? known)
        }
        known.observe(processed, end: seen.contains(key) ? nil : figures.lastEnd, at: now)
        seen.insert(key)
        if known.isQuiet(for: limit, at: now) {
            let since = known.since.formatted("%Y-%m-%d %H:%M:%S")
            let reason = "Nothing was processed for \(limit.text), since \(since): the sender may be dead."
            if trouble.isThere || now < began || now - began >= min(limit, Self.longestGrace) {
                trouble.begin(reason, at: known.since)
            }
        } else if known.since != trouble.began {
            // Else the time was corrected.
            trouble.end()
        }
        set(key, .trouble(trouble, known))
    }

    /// What was with pipelines that are gone is over. It is forgotten once that was told.
    private mutating func end(but pipelines: Set<String>, at now: Timestamp) {
        for (key, standing) in standings where !key.pipeline.isEmpty && !pipelines.contains(key.pipeline) {
            if key.event != NotifyEvent.quiet.rawValue, case .trouble(let trouble, _) = standing.content,
                trouble.isThere
            {
                change(key, nil, at: now)
            }
            gone.insert(key)
        }
        gone = gone.filter { !pipelines.contains($0.pipeline) && standings[$0] != nil }
    }

}

package import Files
package import Journal
package import PipelineKit

extension NotifyBook {
    /// What is to be sent now, the oldest of those that were tried least often first. `underWay`: messages that are on
    /// their way, with their rules, of which no other one is sent meanwhile.
    package func due(
        at now: Timestamp, besides underWay: [String: String] = [:]
    ) -> (notice: Notice, rule: NotifyRule)? {
        let due = waiting(besides: underWay).filter { notice in
            BackOff.hasCome(notice.next, at: now) && resting[notice.rule].map { BackOff.hasCome($0, at: now) } ?? true
        }
        guard let notice = due.min(by: { ($0.tries, $0.since, $0.id) < ($1.tries, $1.since, $1.id) }),
            let rule = rules.first(where: { $0.identity == notice.rule })
        else { return nil }
        return (notice, rule)
    }

    func waiting(besides underWay: [String: String]) -> [Notice] {
        let busy = Set(underWay.values)
        return pending.values.filter { underWay[$0.id] == nil && !busy.contains($0.rule) }
    }

    /// One that waits; nil where it is gone.
    package func notice(_ id: String) -> Notice? { pending.values.first { $0.id == id } }

    /// The other side has it.
    package mutating func sent(_ notice: Notice, at now: Timestamp) -> OutboxChange {
        let key = Key(rule: notice.rule, event: notice.event, pipeline: notice.pipeline)
        resting[notice.rule] = nil
        pending[key] = nil
        var change = OutboxChange()
        change.removed = [notice.id]
        switch standings[key]?.content {
        case .failures(var digest)?:
            digest.sent(at: now)
            set(key, .failures(digest))
        case .trouble(var trouble, let quiet)?:
            trouble.sent(at: now)
            set(key, .trouble(trouble, quiet))
        case nil: return change
        }
        save(key, &change)
        return change
    }

    /// It could not be sent. `isDropped`: it was tried long enough.
    package mutating func failed(
        _ notice: Notice, asked: Duration?, at now: Timestamp
    ) -> (change: OutboxChange, isDropped: Bool) {
        let key = Key(rule: notice.rule, event: notice.event, pipeline: notice.pipeline)
        var notice = notice
        notice.tries = min(notice.tries, .max - 1) + 1
        notice.next = now.advanced(by: BackOff.pause(after: notice.tries, asked: asked))
        // What waits with it goes to the same place.
        resting[notice.rule] = notice.next
        var change = OutboxChange()
        guard BackOff.isOver(since: notice.since, at: now) else {
            pending[key] = notice
            change.notices = [notice]
            return (change, false)
        }
        pending[key] = nil
        change.removed = [notice.id]
        if case .trouble(var trouble, let quiet)? = standings[key]?.content {
            trouble.gaveUp(isEnd: notice.state == .over)
            set(key, .trouble(trouble, quiet))
            save(key, &change)
        }
        return (change, true)
    }
}

package import Files

/// That a person holds a pipeline: nothing is claimed until that is lifted, or over.
package struct HoldRecord: Sendable, Equatable, Codable {
    package enum Kind: String, Sendable, Codable {
        /// No stage begins, either.
        case pause
        /// What is claimed goes to its end.
        case drain

        fileprivate var participle: String {
            switch self {
            case .pause: "paused"
            case .drain: "drained"
            }
        }
    }

    package private(set) var pipeline: String
    package let kind: Kind
    /// Whose it is: a user's name and number.
    package let by: String
    package let user: UInt32
    package let since: Timestamp
    /// When it is over; nil: only when it is lifted.
    package let until: Timestamp?
    /// In the words of whoever asked for it; empty where no reason was given.
    package let reason: String

    package init(
        pipeline: String, kind: Kind, by: String, user: UInt32, since: Timestamp, until: Timestamp? = nil,
        reason: String = ""
    ) {
        self.pipeline = pipeline
        self.kind = kind
        self.by = by
        self.user = user
        self.since = since
        self.until = until
        self.reason = reason
    }

    /// The same of a pipeline that has another name by now.
    package func passed(to pipeline: String) -> Self {
        var hold = self
        hold.pipeline = pipeline
        return hold
    }

    package func isOver(at now: Timestamp) -> Bool { until.map { $0 <= now } ?? false }

    /// `paused by anna 12 min ago: RIP is down; until 14:30`
    package func text(at now: Timestamp) -> String {
        // Before that the clock was another one.
        let age = now < since ? "" : " \((now - since).text) ago"
        return "\(kind.participle) by \(by)\(age)\(cause)\(end(at: now))"
    }

    /// `paused by anna: RIP is down; until 14:30`, as it begins.
    package var news: String { "\(kind.participle) by \(by)\(cause)\(end(at: since))" }

    /// `resumed by bob`, or that its time is over.
    package func end(by name: String?) -> String {
        name.map { "resumed by \($0)" } ?? "resumed: it was \(kind.participle) until now"
    }

    private var cause: String { reason.isEmpty ? "" : ": \(EscapedText.printable(reason))" }

    private func end(at now: Timestamp) -> String {
        guard let until else { return "" }
        let isToday = until.formatted("%F") == now.formatted("%F")
        return "; until \(until.formatted(isToday ? "%H:%M" : "%F %H:%M"))"
    }
}

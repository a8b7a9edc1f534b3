package import Files

/// That a person holds a pipeline, on all nodes or on one: nothing is claimed until that is lifted, or over.
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
    package private(set) var until: Timestamp?
    /// In the words of whoever asked for it; empty where no reason was given.
    package let reason: String
    /// The node that it is held on; nil: wherever it is at work.
    package let node: String?

    package init(
        pipeline: String, kind: Kind, by: String, user: UInt32, since: Timestamp, until: Timestamp? = nil,
        reason: String = "", on node: String? = nil
    ) {
        self.pipeline = pipeline
        self.kind = kind
        self.by = by
        self.user = user
        self.since = since
        self.until = until
        self.reason = reason
        self.node = node
    }

    /// The same of a pipeline that has another name by now.
    package func passed(to pipeline: String) -> Self {
        var hold = self
        hold.pipeline = pipeline
        return hold
    }

    /// The same by a clock that is so much ahead.
    package func ending(later time: Duration) -> Self {
        var hold = self
        hold.until = until.map { Timestamp(nanoseconds: $0.nanoseconds.addingSaturated(time.nanoseconds)) }
        return hold
    }

    package func isOver(at now: Timestamp) -> Bool { until.map { $0 <= now } ?? false }

    /// `paused on mill-2 by anna 12 min ago: RIP is down; until 14:30`
    package func text(at now: Timestamp) -> String {
        // Before that the clock was another one.
        let age = now < since ? "" : " \((now - since).text) ago"
        return "\(kind.participle)\(place) by \(by)\(age)\(cause)\(end(at: now))"
    }

    /// `paused by anna: RIP is down; until 14:30`, as it begins.
    package var news: String { "\(kind.participle)\(place) by \(by)\(cause)\(end(at: since))" }

    /// `resumed by bob`, or that its time is over.
    package func end(by name: String?) -> String {
        name.map { "resumed\(place) by \($0)" } ?? "resumed\(place): it was \(kind.participle) until now"
    }

    /// ` on mill-2`
    var place: String { node.map { " on \(EscapedText.printable($0))" } ?? "" }

    private var cause: String { reason.isEmpty ? "" : ": \(EscapedText.printable(reason))" }

    private func end(at now: Timestamp) -> String {
        guard let until else { return "" }
        let isToday = until.formatted("%F") == now.formatted("%F")
        return "; until \(until.formatted(isToday ? "%H:%M" : "%F %H:%M"))"
    }
}

extension HoldRecord {
    /// Whether there is only one of them at a time.
    func isInPlace(of other: Self) -> Bool { pipeline == other.pipeline && node == other.node }

    /// Whether this one counts where both hold a pipeline on a node: the one that holds more, or for longer.
    fileprivate func outweighs(_ other: Self) -> Bool {
        guard kind == other.kind else { return kind == .pause }
        guard until != other.until else { return node == nil }
        return until.map { until in other.until.map { until > $0 } ?? false } ?? true
    }
}

extension Sequence<HoldRecord> {
    /// What holds each pipeline on a node: what does on all nodes, or on this one.
    package func inForce(on node: String?) -> [String: HoldRecord] {
        reduce(into: [:]) { held, hold in
            guard hold.node == nil || hold.node == node else { return }
            if let other = held[hold.pipeline], !hold.outweighs(other) { return }
            held[hold.pipeline] = hold
        }
    }
}

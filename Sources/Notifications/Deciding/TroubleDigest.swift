package import Files
import Journal
import PipelineKit

/// What was told of trouble that comes and goes, and what is: the first at once, then no more than one message in each
/// digest, be it about its beginning or its end. Its end is told to whom its beginning was.
package struct TroubleDigest: Sendable, Equatable {
    /// What is to be told.
    package enum News: Sendable, Equatable {
        /// It has begun, so often.
        case begun(times: UInt64)
        /// It is over; it had begun so often without a word about that.
        case over(times: UInt64)
        /// It has begun so often, and is over each time.
        case passed(times: UInt64)
    }

    /// Of what rules tell.
    package enum Scope: Sendable { case both, endsAlone }

    /// Whether there is trouble, and what was told last.
    package private(set) var isThere = false
    package private(set) var isTold = false
    /// When it began last, and why.
    package private(set) var began: Timestamp?
    package private(set) var reason = ""
    /// How often it has begun, and ended, without a word about that.
    private(set) var begins: UInt64 = 0, ends: UInt64 = 0
    private var told: Timestamp?

    package init() {}

    /// There is trouble.
    package mutating func begin(_ reason: String, at now: Timestamp) {
        self.reason = reason
        guard !isThere else { return }
        (isThere, began) = (true, now)
        begins &+= 1
    }

    /// There is none.
    package mutating func end() {
        guard isThere else { return }
        isThere = false
        ends &+= 1
    }

    /// What is to be told now; nil where that is nothing, or not yet.
    package func news(_ scope: Scope, _ digest: Duration, at now: Timestamp) -> News? {
        guard let next = next(scope, digest, at: now), next <= now else { return nil }
        return pending(scope)
    }

    /// When something is to be told; nil where there is nothing.
    package func next(_ scope: Scope, _ digest: Duration, at now: Timestamp) -> Timestamp? {
        pending(scope) == nil ? nil : Window.end(since: told, digest, at: now)
    }

    private func pending(_ scope: Scope) -> News? {
        switch (scope, isThere, isTold) {
        case (.endsAlone, true, _): nil
        case (.endsAlone, false, _): ends > 0 ? .over(times: 0) : nil
        case (.both, true, _): begins > 0 ? .begun(times: begins) : nil
        case (.both, false, true): .over(times: begins)
        case (.both, false, false): begins > 0 ? .passed(times: begins) : nil
        }
    }

    /// That is told.
    package mutating func tell(_ news: News, at now: Timestamp) {
        switch news {
        case .begun: isTold = true
        case .over: isTold = false
        case .passed: break
        }
        (begins, ends, told) = (0, 0, now)
    }

    /// A message has left: the digest counts from then.
    package mutating func sent(at now: Timestamp) { told = now }

    /// A message was given up: nobody knows of it.
    package mutating func gaveUp(isEnd: Bool) {
        guard !isEnd else { return }
        isTold = false
        if isThere { begins = max(1, begins) }
    }

    package var json: String {
        var json = JSONText()
        json.object { json in
            json.flag("there", isThere)
            json.flag("told", isTold)
            json.text("reason", reason)
            json.integer("begins", begins)
            json.integer("ends", ends)
            for (key, time) in [("began", began), ("last", told)] {
                if let time { json.integer(key, time.nanoseconds) }
            }
        }
        return json.string
    }

    /// Nil where the value is none.
    init?(_ value: JSONValue) {
        guard let members = value.object, let isThere = members["there"]?.bool, let isTold = members["told"]?.bool,
            let reason = members["reason"]?.string, let begins: UInt64 = members["begins"]?.integer(),
            let ends: UInt64 = members["ends"]?.integer()
        else { return nil }
        (self.isThere, self.isTold, self.reason) = (isThere, isTold, reason)
        (self.begins, self.ends) = (begins, ends)
        began = members["began"]?.integer().map { Timestamp(nanoseconds: $0) }
        told = members["last"]?.integer().map { Timestamp(nanoseconds: $0) }
    }

    package init?(json: String) {
        guard let value = JSONValue(json) else { return nil }
        self.init(value)
    }
}

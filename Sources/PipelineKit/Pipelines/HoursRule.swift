/// `hours` and `outside`: when a pipeline works, and what becomes of the rest of the time.
package struct HoursRule: Hashable, Sendable {
    /// What happens outside the hours. Nothing is claimed either way.
    package enum Outside: String, Sendable, CaseIterable {
        /// No stage begins.
        case pause
        /// Claimed jobs go on to their end.
        case drain
    }

    package var hours: Hours
    package var outside: Outside

    package init(_ hours: Hours, outside: Outside = .pause) {
        self.hours = hours
        self.outside = outside
    }
}

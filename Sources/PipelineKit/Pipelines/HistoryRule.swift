package import SystemPackage

/// How long the journal keeps what it knows of jobs that are over (`history`).
package struct HistoryRule: Sendable, Equatable {
    /// Unless something else is said.
    package static let usual = Duration.seconds(90 * 86_400)

    /// How long those that were processed are kept, counted from their end.
    package var processed: Duration
    /// The same of those that failed, or were lost.
    package var failed: Duration
    /// The same of those that a person called off or released.
    package var cancelled: Duration
    /// The oldest go where there are more; nil: however many there are.
    package var jobs: Int?
    /// The oldest go where the journal takes more; nil: however large it is.
    package var bytes: Int64?
    /// The folder of the files that they are added to before they go; nil: of none.
    package var archive: FilePath?

    /// The same age for all.
    package init(_ age: Duration = usual) {
        (processed, failed, cancelled) = (age, age, age)
    }

    /// The longest of its ages.
    package var longest: Duration { max(processed, failed, cancelled) }

    /// With that age in place of its own, where there is one.
    package func keeping(all age: Duration?) -> HistoryRule {
        guard let age else { return self }
        var rule = self
        (rule.processed, rule.failed, rule.cancelled) = (age, age, age)
        return rule
    }
}

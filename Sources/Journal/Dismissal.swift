package import Files

/// Who has taken a failed job out of those that are somebody's to look at, and when.
package struct Dismissal: Sendable, Equatable {
    package let by: String
    package let at: Timestamp

    package init(by person: String, at time: Timestamp) { (by, at) = (person, time) }
}

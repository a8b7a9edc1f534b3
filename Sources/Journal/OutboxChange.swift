/// What is changed in an outbox at once.
package struct OutboxChange: Sendable, Equatable {
    /// Messages to add, or to replace.
    package var notices: [Notice] = []
    /// The ids of those to remove.
    package var removed: [String] = []
    package var standings: [NoticeStanding] = []
    package var forgotten: [NoticeStanding.Key] = []

    package init() {}

    package var isEmpty: Bool { notices.isEmpty && removed.isEmpty && standings.isEmpty && forgotten.isEmpty }

    /// The same, and then another.
    package mutating func add(_ other: OutboxChange) {
        notices.removeAll { notice in other.removed.contains(notice.id) || other.notices.contains { $0.id == notice.id }
        }
        notices += other.notices
        removed += other.removed
        standings.removeAll { standing in
            other.forgotten.contains(standing.key) || other.standings.contains { $0.key == standing.key }
        }
        standings += other.standings
        forgotten.removeAll { key in other.standings.contains { $0.key == key } }
        forgotten += other.forgotten
    }
}

/// A job that carried some content before.
package struct SeenJob: Sendable, Hashable {
    package let id: JobID
    /// Whether it is over; until then it may fail yet.
    package let isOver: Bool

    package init(_ id: JobID, isOver: Bool) {
        self.id = id
        self.isOver = isOver
    }
}

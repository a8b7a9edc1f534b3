/// A request to a node that comes through the journal, from whichever host: a line as its control socket takes it.
package struct NodeRequest: Sendable, Equatable {
    /// What it is known by.
    package let number: Int64
    package let line: String
    /// Who asks: a user's name and number on that host.
    package let by: String
    package let user: UInt32

    package init(number: Int64, line: String, by name: String, user: UInt32) {
        (self.number, self.line, by, self.user) = (number, line, name, user)
    }

    /// How far one is.
    package struct Standing: Sendable, Equatable {
        /// Whether its node has begun with it.
        package let isTaken: Bool
        package let answer: String?
        /// Whether its node was marked dead.
        package let isDead: Bool

        /// Whether nothing more will come.
        package var isOver: Bool { answer != nil || isDead }

        package init(isTaken: Bool, answer: String? = nil, isDead: Bool = false) {
            (self.isTaken, self.answer, self.isDead) = (isTaken, answer, isDead)
        }
    }
}

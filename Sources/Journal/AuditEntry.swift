package import Files
package import Glibc

/// A change that a user made or tried to make: when, who, what and the result.
package struct AuditEntry: Sendable, Equatable {
    package var at: Timestamp
    package var user: uid_t
    /// What the user was called then.
    package var name: String
    /// What was asked for, and with which arguments, as JSON.
    package var verb: String
    package var arguments: String
    /// Nil as long as it is under way; for good where the daemon ended meanwhile.
    package var result: String?
    /// For whom a program asked; nil where the user asked.
    package var behalf: Behalf?
    /// What orders them, once it is on record.
    package var number: Int64?

    package init(
        at: Timestamp = .now(), user: uid_t, name: String, verb: String, arguments: String, result: String? = nil,
        behalf: Behalf? = nil, number: Int64? = nil
    ) {
        self.at = at
        self.user = user
        self.name = name
        self.verb = verb
        self.arguments = arguments
        self.result = result
        self.behalf = behalf
        self.number = number
    }
}

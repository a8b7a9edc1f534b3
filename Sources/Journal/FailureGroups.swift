/// All open failures, in groups of those that are alike.
package struct FailureGroups: Sendable, Equatable {
    /// How many jobs there are, also of groups that are left out.
    package var total: Int
    /// The largest first.
    package var groups: [FailureGroup]

    /// More are not told of at once.
    package static let most = 200

    package init(total: Int, groups: [FailureGroup]) { (self.total, self.groups) = (total, groups) }
}

package import Files
package import PipelineKit

/// Which drops of an inbox are to be listed.
package struct DropQuestion: Sendable {
    /// What keeps a drop in its inbox.
    package enum Kind: String, Sendable {
        /// It is not complete, or has not been seen to be.
        case incomplete
        /// It is complete.
        case complete
        /// It is complete, or was looked at while the daemon crashed, and something else than room keeps it.
        case held
        /// It is none as it is.
        case left
    }

    /// Nil: those that are not complete, and those that are left alone.
    package var kind: Kind?
    /// Of names, or of paths where it has a `/`; nil: any.
    package var pattern: Glob?
    /// Only what comes behind this.
    package var after: DropPlace?
    /// Of those that are left alone only what comes behind this; nil: none at all.
    package var leftAfter: LeftPlace?
    /// How many of each at most.
    package var limit: Int

    package enum LeftPlace: Sendable {
        case beginning
        case path(DropPath)
    }

    package init(
        kind: Kind? = nil, pattern: Glob? = nil, after: DropPlace? = nil, leftAfter: LeftPlace? = .beginning, limit: Int
    ) {
        self.kind = kind
        self.pattern = pattern
        self.after = after
        self.leftAfter = leftAfter
        self.limit = limit
    }

    func matches(_ path: DropPath) -> Bool {
        guard let pattern else { return true }
        return pattern.pattern.contains("/") ? pattern.matches(path.bytes) : pattern.matches(path.name)
    }
}

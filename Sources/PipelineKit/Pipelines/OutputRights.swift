package import Glibc

/// The rights that a pipeline gives its outputs; what is nil stays as it comes out of the stages.
package struct OutputRights: Sendable, Hashable {
    /// The permission bits of files; folders also get the right to be entered wherever it lets them be read.
    package var mode: mode_t?
    /// The user that they belong to.
    package var owner: uid_t?
    /// The group that they belong to.
    package var group: gid_t?

    /// Rights; none by themselves.
    package init(mode: mode_t? = nil, owner: uid_t? = nil, group: gid_t? = nil) {
        self.mode = mode
        self.owner = owner
        self.group = group
    }

    /// Whether outputs stay as they come.
    package var isEmpty: Bool { self == OutputRights() }

    /// The mode of an output that has this one. What nobody but its owner could read of the drop, or its group alone,
    /// stays so, unless the pipeline says what outputs get.
    package func mode(of own: mode_t, isFolder: Bool, drop: mode_t) -> mode_t {
        guard let mode else { return own & Self.openness(of: drop) }
        // `x` wherever there is `r`.
        return isFolder ? mode | (mode & 0o444) >> 2 : mode
    }

    /// The bits that are left where the groups of readers are no others than a drop's: all of `rwx` for its owner, and
    /// for its group and others where these may read it.
    package static func openness(of drop: mode_t) -> mode_t {
        0o700 | (drop & 0o040 != 0 ? 0o070 : 0) | (drop & 0o004 != 0 ? 0o007 : 0)
    }
}

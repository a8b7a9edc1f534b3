package import Files

/// Which names of an inbox are drops, and which of its folders are looked into.
package struct MatchRule: Sendable, Hashable {
    /// A name must match one of these …
    package var include: [Glob]
    /// … and none of these.
    package var exclude: [Glob]
    /// How many levels of folders are looked into: 1 is the inbox itself, `Int.max` all.
    package var depth: Int

    /// A rule; the default takes every name in the inbox itself that is not ignored anyway.
    package init(include: [Glob] = [.everything], exclude: [Glob] = [], depth: Int = 1) {
        self.include = include
        self.exclude = exclude
        self.depth = depth
    }

    /// Whether a folder of this name that lies in `folder` is looked into.
    package func enters(_ name: FileName, in folder: InboxFolder) -> Bool {
        guard folder.depth + 1 < depth, IgnoredNames.reason(for: name) == nil else { return false }
        return !exclude.contains { $0.matches(name) }
    }

    /// What the rule says of a name.
    package enum Verdict: Sendable, Hashable {
        /// A drop.
        case taken
        /// Never taken, whatever the rule says; with the reason for people.
        case ignored(String)
        /// No `include` matches.
        case notIncluded
        /// This `exclude` matches.
        case excluded(Glob)
    }

    /// What happens to a file of this name.
    package func verdict(on name: FileName) -> Verdict {
        if let reason = IgnoredNames.reason(for: name) { return .ignored(reason) }
        if let glob = exclude.first(where: { $0.matches(name) }) { return .excluded(glob) }
        guard include.contains(where: { $0.matches(name) }) else { return .notIncluded }
        return .taken
    }
}

/// Which names of an inbox are drops.
package struct MatchRule: Sendable, Hashable {
    /// A name must match one of these …
    package var include: [Glob]
    /// … and none of these.
    package var exclude: [Glob]

    /// A rule; the default takes every name that is not ignored anyway.
    package init(include: [Glob] = [.everything], exclude: [Glob] = []) {
        self.include = include
        self.exclude = exclude
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

    /// What becomes of a file of this name.
    package func verdict(on name: FileName) -> Verdict {
        if let reason = IgnoredNames.reason(for: name) { return .ignored(reason) }
        if let glob = exclude.first(where: { $0.matches(name) }) { return .excluded(glob) }
        guard include.contains(where: { $0.matches(name) }) else { return .notIncluded }
        return .taken
    }
}

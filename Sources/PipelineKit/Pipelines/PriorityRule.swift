package import Files

/// `priority` and `aging`: which drops come before others.
package struct PriorityRule: Hashable, Sendable {
    /// What drops a level is for.
    package struct Entry: Hashable, Sendable {
        /// Matches the name, or the path from the inbox on.
        package let glob: Glob
        package let isOfPath: Bool
        /// The greatest comes first; 0 is that of drops for which there is none.
        package let level: Int

        package init(_ glob: Glob, isOfPath: Bool, level: Int) {
            self.glob = glob
            self.isOfPath = isOfPath
            self.level = level
        }
    }

    /// The levels there are.
    package static let levels = -100...100

    /// The first that matches counts.
    package var entries: [Entry]
    /// After how long a drop is passed by nothing any more.
    package var aging: Duration

    package init(_ entries: [Entry], aging: Duration = .seconds(3600)) {
        self.entries = entries
        self.aging = aging
    }

    /// The level of a drop.
    package func level(of path: DropPath) -> Int {
        let bytes = entries.contains(where: \.isOfPath) ? path.bytes : []
        return entries.first { $0.isOfPath ? $0.glob.matches(bytes) : $0.glob.matches(path.name) }?.level ?? 0
    }
}

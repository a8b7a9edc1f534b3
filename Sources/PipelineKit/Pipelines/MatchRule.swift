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

    /// What becomes of a file of this name.
    package func verdict(on name: FileName) -> Verdict {
        if let reason = IgnoredNames.reason(for: name) { return .ignored(reason) }
        if let glob = exclude.first(where: { $0.matches(name) }) { return .excluded(glob) }
        guard include.contains(where: { $0.matches(name) }) else { return .notIncluded }
        return .taken
    }
}

/// Names that are never drops: those that programs give to files they are not done with.
package enum IgnoredNames {
    /// Endings of temporary names, with who gives them.
    package static let endings: [(suffix: String, who: String)] = [
        (".tmp", "a temporary file"),
        (".part", "a download that is not done"),
        (".partial", "a transfer that is not done"),
        (".filepart", "a transfer by WinSCP that is not done"),
        (".crdownload", "a download by Chrome that is not done"),
        (".download", "a download by Safari that is not done"),
        (".swp", "an editor's swap file"),
    ]

    /// Whole names that desktops leave behind.
    package static let names: [String] = ["Thumbs.db", "desktop.ini"]

    private static let suffixes: [(bytes: [UInt8], who: String)] = endings.map { (Array($0.suffix.utf8), $0.who) }
    private static let whole: [[UInt8]] = names.map { Array($0.utf8) }

    /// Why no name that the pattern matches is ever taken, or nil where one may be. Only what the pattern's beginning
    /// or end spells out is seen: a wildcard at that place is no dot and no ending.
    package static func reason(forAll glob: Glob) -> String? {
        var found: String?
        for alternative in glob.alternatives {
            guard let name = FileName(alternative), let reason = reason(for: name) else { return nil }
            found = reason
        }
        return found
    }

    /// Why the name is never taken, or nil where it may be. rsync's `.NAME.XXXXXX` is hidden, so the dot covers it.
    package static func reason(for name: FileName) -> String? {
        let bytes = name.bytes
        switch bytes.first {
        case UInt8(ascii: "."): return "its name begins with a dot"
        case UInt8(ascii: "~"): return "its name begins with '~'"
        default: break
        }
        if let (_, who) = suffixes.first(where: {
            bytes.count > $0.bytes.count && bytes.suffix($0.bytes.count).elementsEqual($0.bytes)
        }) {
            return "its name says that it is \(who)"
        }
        return whole.contains(bytes) ? "a desktop's own file" : nil
    }
}

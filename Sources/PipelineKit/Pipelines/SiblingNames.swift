package import Files

/// Names beside a drop that say that it is not done: what programs keep there as long as they work on it, or leave
/// where they were broken off. The list is data; `docs/readiness.md` shows it.
package enum SiblingNames {
    /// One kind of name.
    package struct Rule: Sendable {
        /// The sibling's name, with `NAME` for that of the drop. Endings match in any case.
        package let pattern: String
        /// What such a file is, for people.
        package let what: String
        /// Which programs make it.
        package let senders: String

        private let prefix: [UInt8]
        /// In lower case.
        private let suffix: [UInt8]

        fileprivate init(_ pattern: String, _ what: String, by senders: String) {
            self.pattern = pattern
            self.what = what
            self.senders = senders
            let name = Array("NAME".utf8)
            let bytes = Array(pattern.utf8)
            let start = bytes.indices.first { bytes[$0...].starts(with: name) } ?? bytes.endIndex
            prefix = Array(bytes[..<start])
            suffix = bytes[start...].dropFirst(name.count).map(IgnoredNames.lowercased)
        }

        /// The name of the drop that a file of this name lies beside; nil for one of another kind.
        fileprivate func drop(of name: [UInt8]) -> FileName? {
            // Nearly every name is of no kind, and its last byte says so.
            guard let last = name.last, IgnoredNames.lowercased(last) == suffix.last,
                name.count > prefix.count + suffix.count, name.starts(with: prefix),
                name.suffix(suffix.count).lazy.map(IgnoredNames.lowercased).elementsEqual(suffix)
            else { return nil }
            return FileName(name[prefix.count...].dropLast(suffix.count))
        }

        fileprivate func sibling(of drop: FileName) -> FileName? {
            let bytes = prefix + drop.bytes + suffix
            return bytes.count <= FileName.longest ? FileName(bytes) : nil
        }
    }

    /// The rules. No name is of two kinds: their endings tell them apart.
    package static let rules: [Rule] = [
        Rule("NAME.part", "an unfinished transfer", by: "Firefox (beside an empty `NAME`), KDE, many uploaders"),
        Rule("NAME.filepart", "an unfinished transfer", by: "WinSCP"),
        Rule("NAME.crdownload", "an unfinished download", by: "Chrome, Edge, Chromium"),
        Rule("NAME.aria2", "the control file of an unfinished download", by: "aria2"),
        Rule(".NAME.swp", "an editor's swap file", by: "vim"),
        Rule(".~lock.NAME#", "a program's lock file", by: "LibreOffice"),
        Rule("NAME-journal", "the rollback journal of a database", by: "SQLite"),
        Rule("NAME-wal", "the write-ahead log of an open database", by: "SQLite"),
    ]

    /// The drop that a file of this name lies beside, as far as the name says; nil for nearly all names.
    package static func drop(of sibling: FileName) -> FileName? {
        let bytes = sibling.bytes
        for rule in rules {
            if let drop = rule.drop(of: bytes) { return drop }
        }
        return nil
    }

    /// What a file of this name is to its drop.
    package static func what(_ sibling: FileName) -> String {
        rules.first { $0.drop(of: sibling.bytes) != nil }?.what ?? "unfinished"
    }

    /// All names that would hold back a drop.
    package static func siblings(of drop: FileName) -> [FileName] { rules.compactMap { $0.sibling(of: drop) } }
}

package import Files

/// `fair`: how producers share a pipeline.
package struct FairRule: Hashable, Sendable {
    /// Whose a drop is.
    package enum By: Hashable, Sendable {
        /// That of the first folder below the inbox.
        case folder
        /// Its owner's at its claim.
        case owner
        /// That of what stands in a name for the `*`.
        case pattern(before: [UInt8], after: [UInt8])

        /// A pattern with one `*`; nil for another.
        package init?(pattern: String) {
            let parts = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
            guard parts.count == 2, !pattern.utf8.contains(UInt8(ascii: "/")) else { return nil }
            self = .pattern(before: Array(parts[0]), after: Array(parts[1]))
        }
    }

    /// The producer of drops that lie in the inbox itself.
    package static let inbox = "."
    /// That of names that a pattern does not match.
    package static let others = "(others)"

    /// The greatest weight.
    package static let mostWeight = 100

    package var by: By
    /// How often some have their turn, where others have it once.
    package var weights: [String: Int] = [:]
    /// How many jobs of one may be claimed at once; nil: no bound.
    package var active: Int?

    package init(by: By) { self.by = by }

    /// Whose a drop is by its path, escaped; nil where that does not say it.
    package func producer(of path: DropPath) -> String? {
        switch by {
        case .owner: nil
        case .folder:
            path.folder.isTop ? Self.inbox : EscapedText.of(path.folder.bytes.prefix { $0 != UInt8(ascii: "/") })
        case .pattern(let before, let after):
            Self.part(of: path.name.bytes, before, after).map { EscapedText.of($0) } ?? Self.others
        }
    }

    private static func part(of name: [UInt8], _ before: [UInt8], _ after: [UInt8]) -> [UInt8]? {
        let rest = name.count - after.count
        guard rest > before.count, name.starts(with: before), name[rest...].elementsEqual(after) else { return nil }
        return Array(name[before.count..<rest])
    }
}

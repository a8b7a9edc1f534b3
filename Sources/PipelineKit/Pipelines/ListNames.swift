package import Files

/// Names of lists of digests in the folders that a pipeline publishes to, which nothing else gets there. Some file
/// systems fold case, and drop dots and blanks at the end: what differs in these only counts as the same name.
package struct ListNames: Sendable, Hashable {
    /// The names as they are given.
    package let names: [FileName]
    private let folded: Set<[UInt8]>

    /// These names; each counts once.
    package init(_ names: some Sequence<FileName> = []) {
        self.names = Set(names).sorted()
        folded = Set(self.names.map(Self.folded))
    }

    /// Whether there are none.
    package var isEmpty: Bool { names.isEmpty }

    /// Whether it is one of them.
    package func contains(_ name: FileName) -> Bool { !folded.isEmpty && folded.contains(Self.folded(name)) }

    private static func folded(_ name: FileName) -> [UInt8] {
        let end = name.bytes.lastIndex { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: " ") }
        let kept = end.map { name.bytes[...$0] } ?? name.bytes[...]
        return kept.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}

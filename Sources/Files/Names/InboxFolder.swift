/// A folder of an inbox, by its path from the inbox on. All that lies in it shares the one copy of its bytes.
package struct InboxFolder: Hashable, Sendable {
    /// The names from the inbox on with `/` between them; empty for the inbox itself.
    package let bytes: [UInt8]

    /// The inbox itself.
    package static let top = InboxFolder(bytes: [])

    /// The longest path that a folder of an inbox may have, in bytes: below another folder, and with a name behind it,
    /// it still has to be a path (PATH_MAX is 4096).
    package static let longest = 2048

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// A folder by the names from the inbox on.
    package init(_ names: some Sequence<FileName>) {
        bytes = Array(names.map(\.bytes).joined(separator: [Self.slash]))
    }

    private static let slash = UInt8(ascii: "/")

    /// As a name's.
    package func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(0 as UInt8)
    }

    /// Whether it is the inbox itself.
    package var isTop: Bool { bytes.isEmpty }

    /// How many folders there are from the inbox on; 0 for the inbox itself.
    package var depth: Int { isTop ? 0 : bytes.count { $0 == Self.slash } + 1 }

    /// The names from the inbox on.
    package var names: [FileName] {
        bytes.split(separator: Self.slash).map { FileName(unchecked: Array($0)) }
    }

    /// The folder as something that lies in the one above it; nil for the inbox itself.
    package var path: DropPath? {
        guard let last = names.last else { return nil }
        return DropPath(last, in: InboxFolder(names.dropLast()))
    }

    /// A folder in this one.
    package func appending(_ name: FileName) -> InboxFolder {
        InboxFolder(bytes: isTop ? name.bytes : bytes + [Self.slash] + name.bytes)
    }
}

/// Where a drop lies: its folder and its name.
package struct DropPath: Hashable, Sendable {
    /// The folder that it lies in.
    package let folder: InboxFolder
    /// Its name.
    package let name: FileName

    package init(_ name: FileName, in folder: InboxFolder = .top) {
        self.folder = folder
        self.name = name
    }

    /// The path from the inbox on, as bytes.
    package var bytes: [UInt8] { folder.appending(name).bytes }

    /// The same as text that is safe to print.
    package var text: String { EscapedText.of(bytes) }
}

extension DropPath: Comparable {
    /// By bytes, as `LC_ALL=C sort` orders paths.
    package static func < (left: DropPath, right: DropPath) -> Bool {
        if left.folder == right.folder { return left.name < right.name }
        return left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension DropPath: CustomStringConvertible {
    /// The escaped text.
    package var description: String { text }
}

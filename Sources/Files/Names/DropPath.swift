/// Where a drop lies: its folder and its name.
public struct DropPath: Hashable, Sendable {
    /// The folder that it lies in.
    package let folder: InboxFolder
    /// Its name.
    public let name: FileName

    package init(_ name: FileName, in folder: InboxFolder = .top) {
        self.folder = folder
        self.name = name
    }

    /// Of a path from the inbox on; nil where it has no name.
    package init?(bytes: [UInt8]) {
        let names = bytes.split(separator: UInt8(ascii: "/")).compactMap { FileName($0) }
        guard let name = names.last else { return nil }
        self.init(name, in: InboxFolder(names.dropLast()))
    }

    /// The path from the inbox on, as bytes.
    public var bytes: [UInt8] { folder.appending(name).bytes }

    /// The same as text that is safe to print.
    public var text: String { EscapedText.of(bytes) }
}

extension DropPath: Comparable {
    /// By bytes, as `LC_ALL=C sort` orders paths.
    public static func < (left: DropPath, right: DropPath) -> Bool {
        if left.folder == right.folder { return left.name < right.name }
        return left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension DropPath: CustomStringConvertible {
    /// The escaped text.
    public var description: String { text }
}

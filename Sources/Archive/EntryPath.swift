/// The path of an entry, found harmless: below the folder that is extracted to, and short enough to be handled there.
struct EntryPath: Equatable {
    /// One name with its terminating NUL, as the system calls take it.
    typealias Component = [CChar]

    /// The folders above the entry, from the top.
    let folders: [Component]
    /// Its own name; nil for the top folder itself (`./`).
    let name: Component?
    /// As it was stored, for messages.
    let stored: [UInt8]

    /// The longest path, in bytes. With the path of the folder it goes into it must stay below PATH_MAX (4096).
    static let longest = 3000
    /// The most folders within each other: more than people make, fewer than programs stumble over.
    static let deepest = 128
    /// The longest name (NAME_MAX).
    static let longestName = 255

    /// Checks a path as it was stored.
    init(_ stored: [UInt8]) throws(ArchiveError) {
        guard !stored.isEmpty else { throw .unsafe(stored, "has no name") }
        guard stored[0] != UInt8(ascii: "/") else {
            throw .unsafe(stored, "has an absolute name, which leads out of the archive's folder")
        }
        guard stored.count <= Self.longest else {
            throw .unsafe(
                Array(stored.prefix(200)), "has a path of \(stored.count) bytes; at most \(Self.longest) can be handled"
            )
        }
        var components: [Component] = []
        for part in stored.split(separator: UInt8(ascii: "/")) where !part.elementsEqual([UInt8(ascii: ".")]) {
            guard !part.elementsEqual([UInt8(ascii: "."), UInt8(ascii: ".")]) else {
                throw .unsafe(stored, "has '..' in its name, which leads out of its folder")
            }
            guard part.count <= Self.longestName else {
                throw .unsafe(
                    stored, "has a name of \(part.count) bytes; file systems take at most \(Self.longestName)")
            }
            components.append(Self.component(part))
        }
        guard components.count <= Self.deepest else {
            throw .unsafe(stored, "lies \(components.count) folders deep; at most \(Self.deepest) can be handled")
        }
        name = components.popLast()
        folders = components
        self.stored = stored
    }

    /// All components.
    var components: [Component] { name.map { folders + [$0] } ?? folders }

    private static func component(_ part: some Collection<UInt8>) -> Component {
        var component: Component = []
        component.reserveCapacity(part.count + 1)
        for byte in part { component.append(CChar(bitPattern: byte)) }
        component.append(0)
        return component
    }

    /// Checks the target of a symbolic link at this path: relative, and with `..` only at its beginning and only as
    /// often as there are folders above the link. After a name `..` could lead out through another link of that name;
    /// before all names it goes up real folders only, since no entry is ever put through a link.
    func checkLinkTarget(_ target: [UInt8]) throws(ArchiveError) {
        guard let first = target.first else { throw .unsafe(stored, "is a symbolic link to nothing") }
        guard first != UInt8(ascii: "/") else { throw .unsafe(stored, "is a symbolic link to an absolute path") }
        guard target.count <= Self.longest else { throw .unsafe(stored, "is a symbolic link with an overlong target") }
        var rises = 0
        var seenName = false
        for part in target.split(separator: UInt8(ascii: "/")) where !part.elementsEqual([UInt8(ascii: ".")]) {
            if part.elementsEqual([UInt8(ascii: "."), UInt8(ascii: ".")]) {
                rises += 1
                guard !seenName, rises <= folders.count else {
                    throw .unsafe(stored, "is a symbolic link that can lead out of the archive's folder")
                }
            } else {
                seenName = true
            }
        }
    }
}

import Files
import Glibc
package import SystemPackage

/// A folder as the kernel will find it, so that two spellings of one folder are seen to be one: absolute, with the
/// symbolic links of what exists resolved.
package struct ResolvedFolder: Hashable, Sendable {
    private let path: FilePath
    /// Device and inode; nil where nothing is there.
    let identity: [UInt64]?

    /// A folder as it was given; it need not exist.
    package init(_ given: FilePath) {
        let path = Self.resolve(given)
        self.init(
            path, FileIdentity.of(path, followingLinks: true).map { [$0.device, $0.inode] })
    }

    /// The same without a look.
    init(unseen given: FilePath) { self.init(given.absolute.lexicallyNormalized(), nil) }

    private init(_ path: FilePath, _ identity: [UInt64]?) { (self.path, self.identity) = (path, identity) }

    private static func resolve(_ given: FilePath) -> FilePath {
        var existing = given.absolute.lexicallyNormalized()
        var missing: [FilePath.Component] = []
        while true {
            if let real = existing.withPlatformString({ realpath($0, nil) }) {
                defer { free(real) }
                return missing.reversed().reduce(into: FilePath(platformString: real)) { $0.append($1) }
            }
            guard let last = existing.lastComponent else { break }
            missing.append(last)
            existing.removeLastComponent()
        }
        return missing.reversed().reduce(into: existing) { $0.append($1) }
    }

    package static func == (left: ResolvedFolder, right: ResolvedFolder) -> Bool { left.path == right.path }

    package func hash(into hasher: inout Hasher) { hasher.combine(path) }

    /// Whether both are one folder: by their paths, or by what is there, which bind mounts show under several paths.
    package func isSame(as other: ResolvedFolder) -> Bool {
        guard self != other else { return true }
        guard let own = identity, let its = other.identity else { return false }
        return own == its
    }

    var text: String { path.text }

    /// The folders above it, from the nearest one up to `/`.
    var ancestors: [ResolvedFolder] {
        var ancestors: [ResolvedFolder] = []
        var next = path
        while next.removeLastComponent() { ancestors.append(ResolvedFolder(next, nil)) }
        return ancestors
    }

    /// Whether it is inside the other one, at any depth.
    package func isInside(_ other: ResolvedFolder) -> Bool { self != other && path.starts(with: other.path) }

    /// Its path relative to the other one; nil if it is not inside it.
    package func path(below other: ResolvedFolder) -> FilePath? {
        var below = path
        guard isInside(other), below.removePrefix(other.path) else { return nil }
        return below
    }

    /// Whether one of the two contains the other, or both are the same.
    package func overlaps(_ other: ResolvedFolder) -> Bool {
        path.starts(with: other.path) || other.path.starts(with: path)
    }

    /// Whether it is inside the other one below a name that begins with a dot, where no drop is taken.
    package func isHidden(in other: ResolvedFolder) -> Bool {
        guard isInside(other) else { return false }
        let below = path.components.dropFirst(other.path.components.count).first
        return below.flatMap { FileName($0) }?.isHidden ?? false
    }
}

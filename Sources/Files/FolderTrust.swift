import Platform
package import SystemPackage

/// Who could change what a path leads to. The rule is that of sshd's StrictModes: every folder from the root on belongs
/// to root or to our user, and no one else may write to it, unless its sticky bit keeps others from renaming what is in
/// it; that is not enough for the folder itself, where others could make a folder or a link before us. A symbolic link
/// on the way belongs to root or to our user too, since its owner decides where it leads.
///
/// Rights from an access list show in the group bits (acl(5)), so these cover them.
package struct FolderTrust: Sendable {
    /// The user to check for.
    package let user: UInt32
    /// Folders and links that are accepted as they are, by the paths that faults report.
    package let accepted: Set<FilePath>

    /// Checks for our effective user.
    package init(accepting accepted: [FilePath] = [], as user: UInt32 = geteuid()) {
        self.user = user
        self.accepted = Set(accepted)
    }

    /// A folder or link on the way that others could use to lead us elsewhere.
    package struct Fault: Sendable, Equatable {
        /// What makes it one.
        package enum Reason: Sendable, Equatable {
            /// It belongs to another user.
            case owner
            /// Others may write to it.
            case writable
        }

        /// Where it is, with the links before it followed: what `trust` takes.
        package let path: FilePath
        /// What makes it one.
        package let reason: Reason
        /// Its kind: a folder or a symbolic link.
        package let kind: FileKind
        package let owner: UInt32
        package let group: UInt32
        package let mode: UInt32
    }

    /// The result of checking the path to a folder.
    package struct Way: Sendable, Equatable {
        /// What is at fault, from the root on.
        package var faults: [Fault] = []
        /// Whether the folder, or one above it, is missing.
        package var isMissing = false
        /// Whether it is missing where others could create it first: in a sticky folder that they may write to.
        package var mayBeForestalled = false
        /// Why the check could not be completed; using the folder will fail in the same way.
        package var trouble: IOError?
    }

    /// What is wrong with one folder or link; nil if nothing is. Pure.
    /// `isEnd`: whether it is the folder itself, for which the sticky bit is not enough.
    package static func reason(
        kind: FileKind, owner: UInt32, mode: UInt32, for user: UInt32, isEnd: Bool = false
    ) -> Fault.Reason? {
        if owner != 0, owner != user { return .owner }
        // The mode of a link means nothing.
        guard kind == .folder, mode & 0o022 != 0, isEnd || mode & 0o1000 == 0 else { return nil }
        return .writable
    }

    /// Walks the path to a folder from the root, holding each step open, so that nothing is replaced
    /// between the check and the step into it. Links are followed as the kernel follows them.
    package func way(to folder: FilePath) -> Way {
        var walk = Walk(to: folder.absolute)
        var way = Way()
        do throws(IOError) {
            var end: Place?
            while let place = try walk.next() {
                if place.kind == .folder { way.mayBeForestalled = place.isSharedBySticky }
                judge(place, isEnd: false, &way)
                end = place
            }
            if let end { judge(end, isEnd: true, &way) }
            way.mayBeForestalled = false
        } catch {
            way.isMissing = error.errno == .noSuchFileOrDirectory
            if !way.isMissing {
                way.trouble = error
                way.mayBeForestalled = false
            }
        }
        return way
    }

    /// Opens a folder step by step. A symbolic link that another user could change is not followed (EPERM).
    package func open(_ folder: FilePath) throws(IOError) -> OpenFile {
        var walk = Walk(to: folder.absolute)
        while let place = try walk.next() {
            guard place.kind == .symbolicLink, !accepted.contains(place.path),
                Self.reason(kind: place.kind, owner: place.owner, mode: place.mode, for: user) != nil
            else { continue }
            throw IOError(IOError.followingOthers, place.path, .notPermitted)
        }
        return try walk.open()
    }

    private func judge(_ place: Place, isEnd: Bool, _ way: inout Way) {
        guard !accepted.contains(place.path),
            let reason = Self.reason(
                kind: place.kind, owner: place.owner, mode: place.mode, for: user, isEnd: isEnd)
        else { return }
        let fault = Fault(
            path: place.path, reason: reason, kind: place.kind, owner: place.owner, group: place.group,
            mode: place.mode)
        // After a link that begins at the root the same folders may come again.
        if !way.faults.contains(fault) { way.faults.append(fault) }
    }
}

/// A folder or link that was met on a way.
private struct Place {
    let path: FilePath
    let kind: FileKind
    let owner: UInt32
    let group: UInt32
    let mode: UInt32

    init(_ path: FilePath, _ status: stat) {
        self.path = path
        kind = FileKind(mode: status.st_mode)
        owner = status.st_uid
        group = status.st_gid
        mode = UInt32(status.st_mode & 0o7777)
    }

    /// Whether others may create entries in it, but not remove existing ones.
    var isSharedBySticky: Bool { kind == .folder && mode & 0o022 != 0 && mode & 0o1000 != 0 }
}

/// Goes down a path step by step.
private struct Walk {
    /// As many links as the kernel follows (path_resolution(7)).
    private static let mostLinks = 40

    /// The folder reached so far; nil before the root.
    private var held: HeldPlace?
    private var path: FilePath = "/"
    /// The remaining steps, the next one last.
    private var rest: [FilePath.Component]
    private var links = 0

    init(to path: FilePath) { rest = path.components.reversed() }

    /// The next folder or link on the way; nil once there is none.
    mutating func next() throws(IOError) -> Place? {
        guard let held else {
            path = "/"
            return try enter(try HeldPlace("/", in: AT_FDCWD, at: path))
        }
        guard let step = rest.popLast() else { return nil }
        switch step.kind {
        case .currentDirectory: return try next()
        case .parentDirectory:
            // The parent was walked through, so it is still the same.
            path.removeLastComponent()
            return try enter(try HeldPlace("..", in: held.descriptor, at: path))
        case .regular:
            let next = path.appending(step)
            let place = try HeldPlace(FilePath(root: nil, [step]), in: held.descriptor, at: next)
            guard FileKind(mode: try place.status().st_mode) == .symbolicLink else {
                path = next
                return try enter(place)
            }
            return try follow(place)
        }
    }

    /// Opens the folder that was reached, for listing.
    func open() throws(IOError) -> OpenFile {
        let above = held?.descriptor ?? AT_FDCWD
        let descriptor = retrying { openat(above, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw IOError("open", path, .last) }
        return OpenFile(descriptor: descriptor, path: path)
    }

    private mutating func enter(_ place: HeldPlace) throws(IOError) -> Place {
        let status = try place.status()
        guard FileKind(mode: status.st_mode) == .folder else { throw IOError("enter", place.path, .notDirectory) }
        held = place
        return Place(place.path, status)
    }

    private mutating func follow(_ link: HeldPlace) throws(IOError) -> Place {
        links += 1
        guard links <= Self.mostLinks else { throw IOError("follow", link.path, .tooManySymbolicLinkLevels) }
        let target = try link.linkTarget()
        rest += target.components.reversed()
        if target.isAbsolute { held = nil }
        return Place(link.path, try link.status())
    }
}

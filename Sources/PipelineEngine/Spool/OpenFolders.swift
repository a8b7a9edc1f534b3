import Files
import FolderWatch
import Glibc
import PipelineKit
import SystemPackage

/// The target folders of a batch, held open. A configured folder is opened by its path, which no one else
/// can change; what lies below it name by name from there on, no link followed, and only where it is ours.
struct OpenFolders: Sendable {
    /// What is at the path of a folder.
    enum Found {
        /// A folder of ours.
        case open(HeldFolder)
        case missing
        /// A file, a link, or a folder that others could change.
        case others
    }

    /// The most that are held open at a time.
    private static let most = 64

    private let configured: [FilePath]
    private let accepted: Set<FilePath>
    /// Whether they are an inbox's, in which others may do as they like.
    private let areInbox: Bool
    private var held: [FilePath: HeldFolder] = [:]

    /// None yet. `accepted`: folders that may be others' as well.
    init(below configured: [FilePath], accepting accepted: [FilePath] = [], inInbox areInbox: Bool = false) {
        self.configured = configured
        self.areInbox = areInbox
        self.accepted = Set(accepted)
    }

    /// The configured folder that a path lies in. Where there is none the path itself is as good: it holds a target
    /// without placeholders.
    func root(of path: FilePath) -> FilePath {
        configured.filter { path.starts(with: $0) }.max { $0.components.count < $1.components.count } ?? path
    }

    /// Whether the folder was opened before, and so all that lead to it.
    func holds(_ path: FilePath) -> Bool { held[path] != nil }

    /// Finds a folder, from the configured one down.
    mutating func look(_ path: FilePath) throws(IOError) -> Found {
        if let folder = held[path] { return .open(folder) }
        if root(of: path) == path { return try openRoot(path) }
        let above = try look(path.removingLastComponent())
        guard case .open(let parent) = above, let name = path.lastName else { return above }
        do throws(IOError) {
            let folder = try HeldFolder(name, in: parent, OpenFile.pathOnly)
            if !areInbox, !accepted.contains(path), try !folder.isOurs() { return .others }
            return .open(keep(folder, at: path))
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .fileNameTooLong: return .missing
            case .notDirectory, .tooManySymbolicLinkLevels: return .others
            default: throw error
            }
        }
    }

    /// A configured folder must be used as it is: something else in its place is an error.
    private mutating func openRoot(_ path: FilePath) throws(IOError) -> Found {
        do throws(IOError) {
            let folder = areInbox ? HeldFolder(try OpenInbox.open(path)) : try HeldFolder(path, OpenFile.pathOnly)
            return .open(keep(folder, at: path))
        } catch {
            guard [.noSuchFileOrDirectory, .fileNameTooLong].contains(error.errno) else { throw error }
            return .missing
        }
    }

    /// Opens a folder, made where it is missing; `note` is told of what is about to be made. Nil where something that
    /// is not ours is in the way.
    mutating func make(_ path: FilePath, noting note: ([FilePath]) -> Void) throws(IOError) -> HeldFolder? {
        switch try look(path) {
        case .open(let folder): return folder
        case .others: return nil
        case .missing: break
        }
        let above = path.removingLastComponent()
        if root(of: path) == path {
            note(Self.missing(path))
            try Folder.makeOwn(path)
        } else {
            guard let parent = try make(above, noting: note), let name = path.lastName else { return nil }
            note([path])
            // Where the umask lets others write, it would not be ours alone.
            try parent.make(name, mode: 0o755)
        }
        guard case .open(let folder) = try look(path) else { return nil }
        return folder
    }

    /// Whether a folder that is held was removed since; then none is held any more, for others may have been, too.
    mutating func forgetAll(ifRemoved path: FilePath) -> Bool {
        guard let folder = held[path], let status = try? folder.folder.file.status(), status.st_nlink == 0 else {
            return false
        }
        held = [:]
        return true
    }

    /// The folder, and those above it that are missing.
    private static func missing(_ path: FilePath) -> [FilePath] {
        var missing: [FilePath] = []
        var next = path
        while Folder.kind(of: next, followingLinks: true) == nil, next != next.removingLastComponent() {
            missing.append(next)
            next = next.removingLastComponent()
        }
        return missing
    }

    private mutating func keep(_ folder: HeldFolder, at path: FilePath) -> HeldFolder {
        if held.count >= Self.most { held = [:] }
        held[path] = folder
        return folder
    }
}

extension Spool {
    /// The reserved folder that a placement would lead into, or take the place of; nil for none.
    func reservedFolder(
        for placement: Placement, _ open: inout OpenFolders
    ) throws(IOError) -> ReservedFolders.Reserved? {
        let folder = try placement.inSubfolders(&open).folder
        if placement.onConflict == .replace, case .open(let held) = try open.look(folder),
            let there = try held.identity(of: placement.name), let found = reserved.reserved(orHoldBy: there)
        {
            return found
        }
        let isOutput = placement.role == .output
        // The folder for originals is reserved itself; only what a name adds below it is checked.
        let end = isOutput ? open.root(of: folder) : placement.folder
        var next = folder
        while next != end, next.starts(with: end) {
            if case .open(let held) = try open.look(next),
                let found = reserved.reserved(FileIdentity(try held.folder.file.status()))
            {
                return found
            }
            next.removeLastComponent()
        }
        return isOutput ? try reservedFolder(holding: end, &open) : nil
    }

    /// From a configured folder, or the first above it that is there, up to `/`.
    private func reservedFolder(
        holding end: FilePath, _ open: inout OpenFolders
    ) throws(IOError) -> ReservedFolders.Reserved? {
        if case .open(let held) = try open.look(end) {
            return try reserved.reserved(holding: held.folder.file, own: pipeline.inbox)
        }
        var above = end
        while above != above.removingLastComponent() {
            above.removeLastComponent()
            guard Folder.kind(of: above, followingLinks: true) == .folder else { continue }
            return try reserved.reserved(holding: try HeldFolder(above).folder.file, own: pipeline.inbox)
        }
        return nil
    }

    /// None of the folders that the pipeline's things go into, to begin with.
    var openFolders: OpenFolders {
        OpenFolders(below: targets, accepting: pipeline.trust, inInbox: pipeline.givesBack)
    }
}

import Files
import Glibc
import Journal
import PipelineKit
import SystemPackage

/// A folder in which originals were left, open. Looks at them, and removes those that still are as they were left: each
/// is brought out of everybody's way first, to a hidden folder that is known by its name, and looked at there once
/// more. Whatever is cut off in between is found there by the next run. Blocks.
struct OriginalsFolder {
    /// What there is of an original.
    enum Sight {
        case asLeft
        /// It has other names, too.
        case linked
        /// It, or something in it, is not what was left there.
        case changed
        case gone
    }

    let root: HeldFolder
    /// The hidden folder; nil until there is one.
    private(set) var aside: HeldFolder?
    /// Folders with changed entries, to be synced.
    private var touched: [FilePath: HeldFolder] = [:]
    /// What lies beside originals and could not be removed with them.
    private(set) var leftBeside: [IOError] = []

    /// Opens it. `mark`: the hidden folder's name.
    init(_ root: FilePath, mark: String?) throws(IOError) {
        let held = try HeldFolder(root)
        self.root = held
        aside = try Self.find(mark.flatMap { FileName($0) }, in: held)
    }

    private static func find(_ name: FileName?, in root: HeldFolder) throws(IOError) -> HeldFolder? {
        guard let name else { return nil }
        do throws(IOError) {
            let folder = try HeldFolder(name, in: root)
            return try folder.isOurs() ? folder : nil
        } catch {
            guard [.noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels].contains(error.errno) else {
                throw error
            }
            return nil
        }
    }

    /// Makes the hidden folder, by which this one is known from then on.
    mutating func mark(as name: FileName) throws(IOError) {
        try root.make(name, mode: 0o700)
        aside = try HeldFolder(name, in: root)
        try root.sync()
    }

    // MARK: Looking

    /// Looks at an original where it was left; whether what is in a folder is as it was only where it looks `deeply`.
    func look(at file: KeptFile, deeply: Bool = false) throws(IOError) -> Sight {
        guard let (parent, name) = try place(of: file) else { return .gone }
        guard let parent else { return .changed }
        let sight = Self.sight(of: file, try parent.status(of: name))
        guard deeply, case .asLeft = sight, let moved = file.state.moved else { return sight }
        return try TreeCheck(until: moved).isAsLeft(name, in: parent.folder.file) ? .asLeft : .changed
    }

    /// Whether it is there as it was left, with other names or without; what cannot be seen is not.
    func holdsAsLeft(_ file: KeptFile) throws(IOError) -> Bool {
        do throws(IOError) {
            return [.asLeft, .linked].contains(try look(at: file))
        } catch {
            guard error.errno == .permissionDenied else { throw error }
            return false
        }
    }

    private static func sight(of file: KeptFile, _ status: stat?) -> Sight {
        guard let status else { return .gone }
        let isFolder = file.state.moved != nil
        guard FileKind(mode: status.st_mode) == (isFolder ? .folder : .regular) else { return .changed }
        guard isAsLeft(file.state.file, status, isFolder: isFolder) else { return .changed }
        return isFolder || status.st_nlink == 1 ? .asLeft : .linked
    }

    private static func isAsLeft(_ file: FileState, _ status: stat, isFolder: Bool = false) -> Bool {
        let now = FileState(status)
        return now.inode == file.inode && now.modified == file.modified && (isFolder || now.size == file.size)
    }

    /// The folder that holds an original, and its name there. No folder: something else is in its place. Nil: nothing.
    private func place(of file: KeptFile) throws(IOError) -> (HeldFolder?, FileName)? {
        var relative = file.path
        guard relative.removePrefix(root.path), let name = relative.lastName else { return nil }
        do throws(IOError) {
            return (
                HeldFolder(try OpenFile.openFolder(relative.removingLastComponent(), below: root.folder.file)), name
            )
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: return nil
            case .notDirectory, .tooManySymbolicLinkLevels: return (nil, name)
            default: throw error
            }
        }
    }

    /// A path from the root on; nil for one that is not below it. By bytes: components would take longer than the look.
    private func relative(_ path: FilePath) -> FilePath? {
        root.path.withBytes { root in
            path.withBytes { path in
                guard path.starts(with: root), path.dropFirst(root.count).first == UInt8(ascii: "/") else { return nil }
                return FilePath(bytes: path.dropFirst(root.count + 1))
            }
        }
    }

    // MARK: Removing

    /// Removes an original with what lies beside it; nil: it is removed, else what it is instead. `begun`: an earlier
    /// run has begun with it, and only what it had brought out of the way goes.
    mutating func remove(_ file: KeptFile, begun: Bool) throws(IOError) -> Sight? {
        guard let aside else { throw IOError("open", root.path, .noSuchFileOrDirectory) }
        let (slot, grave) = (Self.slot(of: file), Self.slot(of: file, ".gone"))
        let place = try place(of: file)
        if begun {
            // What an earlier run did need not be on the disk.
            touch(aside)
            if let parent = place?.0 { touch(parent) }
            if try aside.status(of: grave) != nil {
                try bury(grave, in: aside)
                return nil
            }
        }
        let held = begun ? try aside.status(of: slot) : nil
        if held == nil {
            let sight = try look(at: file, deeply: !begun)
            // What was not brought out of the way is looked at again like all others.
            if begun { return sight == .gone ? nil : .asLeft }
            guard sight == .asLeft, let place, let parent = place.0 else { return sight }
            touch(parent)
            do throws(IOError) {
                try parent.move(place.1, to: slot, in: aside)
            } catch {
                guard error.errno == .noSuchFileOrDirectory, try parent.status(of: place.1) == nil else {
                    throw IOError("remove", file.path, error.errno)
                }
                return .gone
            }
        }
        // Nobody gets here by its name any more.
        let sight: Sight
        do throws(IOError) {
            sight = try check(file, at: slot, in: aside)
        } catch {
            try giveBack(file, at: slot, from: aside, to: place)
            throw error
        }
        guard sight == .asLeft else {
            try giveBack(file, at: slot, from: aside, to: place)
            return sight
        }
        if let place, let parent = place.0 { try removeSides(of: file, in: parent, aside) }
        touch(aside)
        if file.state.moved == nil {
            try aside.remove(slot)
        } else {
            // From here on it is not as it was left.
            try aside.move(slot, to: grave, in: aside)
            try bury(grave, in: aside)
        }
        return nil
    }

    private func check(
        _ file: KeptFile, at slot: FileName, in aside: HeldFolder
    ) throws(IOError) -> Sight {
        let sight = Self.sight(of: file, try aside.status(of: slot))
        guard sight == .asLeft, let moved = file.state.moved else { return sight }
        return try TreeCheck(until: moved).isAsLeft(slot, in: aside.folder.file) ? .asLeft : .changed
    }

    /// Where the folder that held it is gone, the root is the nearest.
    private mutating func giveBack(
        _ file: KeptFile, at slot: FileName, from aside: HeldFolder, to place: (HeldFolder?, FileName)?
    ) throws(IOError) {
        guard let name = place?.1 ?? file.path.lastName else { return }
        try giveBack(slot, from: aside, to: name, in: place?.0 ?? root)
    }

    private mutating func bury(_ name: FileName, in aside: HeldFolder) throws(IOError) {
        touch(aside)
        do throws(IOError) {
            try aside.folder.remove(FilePath().appending(name))
        } catch {
            guard try MadeCalls.look(name, in: aside.folder.file) == nil else { throw error }
        }
    }

    /// One that cannot be removed does not keep its original; where nothing can, both wait until that works.
    private mutating func removeSides(
        of file: KeptFile, in parent: HeldFolder, _ aside: HeldFolder
    ) throws(IOError) {
        for (number, side) in file.state.sides.enumerated() {
            do throws(IOError) {
                try remove(side, at: Self.slot(of: file, ".\(number)"), in: parent, aside)
            } catch {
                guard !error.isOfFolder else { throw error }
                leftBeside.append(IOError("remove", parent.path.appending(side.name), error.errno))
            }
        }
    }

    private mutating func remove(
        _ side: OriginalState.Side, at slot: FileName, in parent: HeldFolder, _ aside: HeldFolder
    ) throws(IOError) {
        if try aside.status(of: slot) == nil {
            guard let status = try parent.status(of: side.name), Self.isRemovable(side, status) else { return }
            touch(parent)
            try parent.move(side.name, to: slot, in: aside)
        }
        guard let status = try aside.status(of: slot) else { return }
        if Self.isRemovable(side, status) {
            try aside.remove(slot)
        } else {
            try giveBack(slot, from: aside, to: side.name, in: parent)
        }
    }

    private static func isRemovable(_ side: OriginalState.Side, _ status: stat) -> Bool {
        FileKind(mode: status.st_mode) == .regular && status.st_nlink == 1 && isAsLeft(side.file, status)
    }

    /// Puts something back that was not to be removed; under another name where its own was taken meanwhile.
    private mutating func giveBack(
        _ slot: FileName, from aside: HeldFolder, to name: FileName, in parent: HeldFolder
    ) throws(IOError) {
        touch(parent)
        var target = name
        for number in 2...1000 {
            do throws(IOError) {
                return try aside.move(slot, to: target, in: parent)
            } catch {
                guard error.errno == .fileExists else { throw error }
                target = name.numbered(number)
            }
        }
        throw IOError("rename", parent.path.appending(name), .fileExists)
    }

    /// Whether it was brought to the hidden folder.
    func holds(_ file: KeptFile) throws(IOError) -> Bool {
        for slot in [Self.slot(of: file), Self.slot(of: file, ".gone")] {
            if try aside?.status(of: slot) != nil { return true }
        }
        return false
    }

    /// What an original is called in the hidden folder.
    private static func slot(of file: KeptFile, _ ending: String = "") -> FileName {
        FileName(unchecked: Array((file.job.text + ending).utf8))
    }

    private mutating func touch(_ folder: HeldFolder) { touched[folder.path] = folder }

    /// Brings all that was removed to the disk.
    mutating func sync() throws(IOError) {
        let folders = touched.values
        touched = [:]
        for folder in folders { try folder.sync() }
    }

    // MARK: Folders

    /// Removes a folder that was made for originals if it is empty; false: it stays, since something is in it.
    mutating func remove(_ made: MadeFolder) throws(IOError) -> Bool {
        guard let relative = relative(made.path), let name = relative.lastName else { return true }
        do throws(IOError) {
            let above = relative.removingLastComponent()
            let parent = HeldFolder(try OpenFile.openFolder(above, below: root.folder.file))
            guard let status = try parent.status(of: name), FileKind(mode: status.st_mode) == .folder,
                UInt64(status.st_ino) == made.inode
            else { return true }
            let descriptor = parent.folder.file.descriptor
            guard name.withCString({ unlinkat(descriptor, $0, AT_REMOVEDIR) }) != 0 else {
                touch(parent)
                return true
            }
            switch Errno.last {
            case .directoryNotEmpty, .fileExists, .resourceBusy: return false
            case .noSuchFileOrDirectory: return true
            case let error: throw IOError("remove", made.path, error)
            }
        } catch {
            guard [.noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels].contains(error.errno) else {
                throw error
            }
            return true
        }
    }
}

package import Files
package import Glibc
package import SystemPackage

extension Folder {
    /// Creates the folder and missing ones above it; an existing one is left as it is. Returns whether it was
    /// created.
    @discardableResult
    package static func make(_ path: FilePath, mode: mode_t = 0o777) throws(IOError) -> Bool {
        if path.withPlatformString({ mkdir($0, mode) }) == 0 { return true }
        switch Errno.last {
        case .fileExists:
            guard kind(of: path, followingLinks: true) == .folder else {
                throw IOError("create the folder", path, .notDirectory)
            }
            return false
        case .noSuchFileOrDirectory:
            let parent = path.removingLastComponent()
            guard parent != path, !parent.isEmpty else {
                throw IOError("create the folder", path, .noSuchFileOrDirectory)
            }
            try make(parent, mode: 0o777)
            if path.withPlatformString({ mkdir($0, mode) }) == 0 { return true }
            let error = Errno.last
            guard error == .fileExists || isMade(path) else { throw IOError("create the folder", path, error) }
            return true
        case let error:
            guard isMade(path) else { throw IOError("create the folder", path, error) }
            return true
        }
    }

    /// Creates a folder that only our user may write to, whatever the umask, with missing ones above it.
    package static func makeOwn(_ path: FilePath, mode: mode_t = 0o755) throws(IOError) {
        let parent = path.removingLastComponent()
        if parent != path, !parent.isEmpty, kind(of: parent, followingLinks: true) == nil { try makeOwn(parent) }
        try make(path, mode: mode)
    }

    /// Whether a folder exists although creating it failed (`MadeCalls`). If it existed
    /// before, the kernel says so.
    private static func isMade(_ path: FilePath) -> Bool {
        path.withPlatformString { isMade(AT_FDCWD, $0) }
    }

    private static func isMade(_ parent: Int32, _ name: UnsafePointer<CChar>) -> Bool {
        var status = stat()
        return statusNow(parent, name, &status) == 0 && FileKind(mode: status.st_mode) == .folder
    }

    /// Creates a folder below this one, and missing ones above it; an existing one is left as it is.
    package func make(_ relative: FilePath, mode: mode_t = 0o777) throws(IOError) {
        if relative.isEmpty { return }
        do throws(IOError) {
            try makeOne(relative, mode)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory where relative.components.count > 1:
                try make(relative.removingLastComponent())
                try makeOne(relative, mode)
            case .fileExists:
                guard try kind(of: relative) == .folder else {
                    throw IOError("create the folder", path.pushing(relative), .notDirectory)
                }
            default: throw error
            }
        }
    }

    /// Makes a folder below this one, emptied if it was there.
    package func makeClean(_ relative: FilePath, mode: mode_t) throws(IOError) {
        do throws(IOError) {
            try makeOne(relative, mode)
        } catch {
            guard error.errno == .fileExists else { throw error }
            try remove(relative)
            try makeOne(relative, mode)
        }
    }

    private func makeOne(_ relative: FilePath, _ mode: mode_t) throws(IOError) {
        try within(relative) { (parent, name) throws(IOError) in
            guard name.withCString({ mkdirat(parent.descriptor, $0, mode) }) != 0 else { return }
            let error = Errno.last
            guard error != .fileExists, name.withCString({ Self.isMade(parent.descriptor, $0) }) else {
                throw IOError("create the folder", parent.path.appending(name), error)
            }
        }
    }

    /// Makes a symbolic link below this folder.
    package func makeLink(_ relative: FilePath, to target: FilePath) throws(IOError) {
        try within(relative) { (parent, name) throws(IOError) in
            let made = target.withPlatformString { text in
                name.withCString { symlinkat(text, parent.descriptor, $0) }
            }
            guard made == 0 else { throw IOError("create the link", parent.path.appending(name), .last) }
        }
    }

    /// The target of a symbolic link below this folder; nil if there is none.
    package func target(ofLink relative: FilePath) throws(IOError) -> FilePath? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        return try within(relative) { (parent, name) throws(IOError) in
            let count = name.withCString { readlinkat(parent.descriptor, $0, &buffer, Int(PATH_MAX)) }
            if count >= 0 { return FilePath(bytes: buffer[..<count].map { UInt8(bitPattern: $0) }) }
            // EINVAL: it is not a link.
            guard [.noSuchFileOrDirectory, .invalidArgument].contains(Errno.last) else {
                throw IOError("read the link", parent.path.appending(name), .last)
            }
            return nil
        }
    }

    /// Gives a file or symbolic link below this folder another name, below another one (linkat(2)).
    package func link(_ relative: FilePath, as name: FilePath, in target: borrowing Folder) throws(IOError) {
        try within(relative) { (old, oldName) throws(IOError) in
            // Swift cannot lend two owners to one closure that throws, so the other folder is lent as its descriptor.
            try target.within(name) { [old = old.descriptor] (new, newName) throws(IOError) in
                let made = oldName.withCString { from in
                    newName.withCString { linkat(old, from, new.descriptor, $0, 0) }
                }
                guard made == 0 else { throw IOError("link", new.path.appending(newName), .last) }
            }
        }
    }

    /// Renames within this folder, over what has the new name (renameat(2)).
    package func rename(_ relative: FilePath, over other: FilePath) throws(IOError) {
        try within(relative) { (old, oldName) throws(IOError) in
            try within(other) { [old = old.descriptor] (new, newName) throws(IOError) in
                let before = oldName.withCString { from in
                    var status = stat()
                    return fstatat(old, from, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
                }
                let renamed = oldName.withCString { from in
                    newName.withCString { renameat(old, from, new.descriptor, $0) }
                }
                if renamed == 0 { return }
                let error = Errno.last
                let target = try MadeCalls.look(newName, in: new)
                let source: stat?
                do throws(Errno) {
                    source = try oldName.withCString { (from) throws(Errno) in try MadeCalls.look(old, from) }
                } catch {
                    throw IOError("examine", path.pushing(relative), error)
                }
                guard MadeCalls.isRenamed(before, source: source, target: target) else {
                    throw IOError("rename", new.path.appending(newName), error)
                }
            }
        }
    }
}

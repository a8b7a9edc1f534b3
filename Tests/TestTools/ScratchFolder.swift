package import Files
import Platform
package import SystemPackage

/// A folder of one test's own, made new and removed with all it holds when the last reference to it goes.
///
/// Keep it in a property of the suite (there is one instance per test) or in a local constant.
package final class ScratchFolder: Sendable {
    /// The folder, absolute and free of symbolic links.
    package let path: FilePath

    /// Makes the folder below `$TMPDIR`, else `/tmp`.
    package init() throws(IOError) {
        let above = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(above)/dropmill-test.XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer -> FilePath? in
            guard let base = buffer.baseAddress, mkdtemp(base) != nil, let real = realpath(base, nil) else {
                return nil
            }
            defer { free(real) }
            return FilePath(platformString: real)
        }
        guard let made else { throw IOError("create a scratch folder in", FilePath(above), .last) }
        path = made
    }

    deinit {
        do throws(IOError) {
            try Self.remove(path)
        } catch {
            // A test cannot be failed from here, but whoever runs it should see what stayed behind.
            _ = Array("warning: \(error)\n".utf8).withUnsafeBytes { Platform.write(2, $0.baseAddress, $0.count) }
        }
    }

    /// The path of something in the folder; `relative` may have several components.
    package func path(_ relative: String) -> FilePath { path.pushing(FilePath(relative)) }

    /// The path of a name that need not be text.
    package func path(_ name: FileName) -> FilePath { path.appending(name) }

    /// Makes a folder and those above it; returns its path.
    @discardableResult
    package func makeFolder(_ relative: String) throws(IOError) -> FilePath {
        let folder = path(relative)
        try Self.make(folder)
        return folder
    }

    /// Writes a file, with the folders above it; returns its path.
    @discardableResult
    package func write(_ contents: String, to relative: String) throws(IOError) -> FilePath {
        try write(Array(contents.utf8), to: path(relative))
    }

    /// Writes a file of these bytes, with the folders above it; returns its path.
    @discardableResult
    package func write(_ contents: [UInt8], to path: FilePath) throws(IOError) -> FilePath {
        try Self.make(path.removingLastComponent())
        let file = try OpenFile.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try file.write(contents)
        try file.close()
        return path
    }

    /// Adds to the end of a file, which is made if it is missing.
    package func append(_ contents: [UInt8], to path: FilePath) throws(IOError) {
        let file = try OpenFile.open(path, O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
        try file.write(contents)
        try file.close()
    }

    /// Makes a symbolic link to `target`, which need not exist.
    package func link(_ relative: String, to target: String) throws(IOError) {
        let path = path(relative)
        guard path.withPlatformString({ symlink(target, $0) }) == 0 else { throw IOError("link", path, .last) }
    }

    /// A file's bytes.
    package func read(_ relative: String) throws(IOError) -> [UInt8] { try Self.read(path(relative)) }

    /// A file's text; bytes that are not UTF-8 show as U+FFFD.
    package func text(_ relative: String) throws(IOError) -> String {
        String(decoding: try read(relative), as: UTF8.self)
    }

    /// Whether there is anything of that name, be it a dangling link.
    package func exists(_ relative: String) -> Bool { Folder.kind(of: path(relative)) != nil }

    /// The bytes of any file.
    package static func read(_ path: FilePath) throws(IOError) -> [UInt8] {
        let file = try OpenFile.open(path, O_RDONLY)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var failure: IOError?
            let count = buffer.withUnsafeMutableBytes { buffer -> Int in
                do throws(IOError) {
                    return try file.read(into: buffer)
                } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// What a symbolic link points to, escaped.
    package static func target(of link: FilePath) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = link.withPlatformString { readlink($0, &buffer, buffer.count) }
        return EscapedText.of(buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) })
    }

    /// Makes a folder and those above it.
    static func make(_ folder: FilePath) throws(IOError) {
        guard folder.withPlatformString({ mkdir($0, 0o777) }) != 0 else { return }
        switch Errno.last {
        case .fileExists where Folder.kind(of: folder, followingLinks: true) == .folder: return
        case .noSuchFileOrDirectory where folder.lastComponent != nil:
            try make(folder.removingLastComponent())
            try make(folder)
        case let error: throw IOError("create the folder", folder, error)
        }
    }

    /// Removes a folder with all in it. What holds something is moved up to it first, so that nothing lies too deep.
    private static func remove(_ path: FilePath) throws(IOError) {
        if Folder.kind(of: path) == nil { return }
        let top = try OpenFile.openFolder(path)
        var moved = 0
        var names = try Folder.names(in: top)
        while !names.isEmpty {
            for name in names where !isRemoved(name, in: top) {
                // A test may have taken the right to.
                _ = name.withCString { fchmodat(top.descriptor, $0, 0o700, 0) }
                let folder = try OpenFile.open(name, in: top, O_RDONLY | O_DIRECTORY)
                for inner in try Folder.names(in: folder) where !isRemoved(inner, in: folder) {
                    moved += 1
                    let result = inner.withCString { inner in
                        fchmodat(folder.descriptor, inner, 0o700, 0)
                        return renameat(folder.descriptor, inner, top.descriptor, ".moved-\(moved)")
                    }
                    guard result == 0 else { throw IOError("move", folder.path.appending(inner), .last) }
                }
                guard isRemoved(name, in: top) else { throw IOError("remove", folder.path, .last) }
            }
            names = try Folder.names(in: top)
        }
        guard path.withPlatformString({ rmdir($0) }) == 0 else { throw IOError("remove", path, .last) }
    }

    private static func isRemoved(_ name: FileName, in folder: borrowing OpenFile) -> Bool {
        let folder = folder.descriptor
        return name.withCString { unlinkat(folder, $0, 0) == 0 || unlinkat(folder, $0, AT_REMOVEDIR) == 0 }
    }
}

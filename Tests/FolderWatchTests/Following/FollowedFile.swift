import Files
import Platform
import SystemPackage
import TestTools
import Testing

@testable import FolderWatch

/// A file that a test writes, rotates and removes, with readers and followers of it.
struct FollowedFile {
    let scratch: ScratchFolder
    let path: FilePath

    var folder: FilePath { path.removingLastComponent() }

    /// A file that is not there yet, in a folder of its own.
    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path("folder/log")
        try scratch.makeFolder("folder")
    }

    // MARK: Changing it

    func append(_ text: String, to name: String = "log") throws {
        try scratch.append(Array(text.utf8), to: folder.appending(name))
    }

    /// Renames what is in its folder.
    func rename(_ old: String, _ new: String) throws { try move("folder/" + old, "folder/" + new) }

    /// Renames what is above it.
    func move(_ old: String, _ new: String) throws {
        let result = scratch.path(old).withPlatformString { old in
            scratch.path(new).withPlatformString { Platform.rename(old, $0) }
        }
        try #require(result == 0)
    }

    func remove() throws { try #require(path.withPlatformString { unlink($0) } == 0) }

    func truncate(to size: Int64 = 0) throws {
        try #require(path.withPlatformString { Platform.truncate($0, off_t(size)) } == 0)
    }

    // MARK: Reading it

    func reader(from start: FileFollower.Start = .start) throws -> FollowReader {
        FollowReader(try #require(FileName("log")), in: folder, from: start)
    }

    /// Where a reader is that has read all.
    func checkpoint() throws -> FollowCheckpoint {
        var reader = try reader()
        var place: FollowCheckpoint?
        while let piece = try reader.next() { place = piece.checkpoint }
        return try #require(place)
    }

    func follower(_ kind: SystemEvents.Kind, from start: FileFollower.Start = .start) -> FileFollower {
        var options = FileFollower.Options()
        options.monitor = .quick(kind)
        return FileFollower(path, from: start, options: options)
    }

    #if os(Linux)
        /// How many descriptors this process has open in its folder, with that itself.
        func descriptors() throws -> Int {
            try Folder.names(in: "/proc/self/fd").count { name in
                ScratchFolder.target(of: FilePath("/proc/self/fd").appending(name)).hasPrefix(scratch.path.string)
            }
        }
    #endif
}

/// What a reader finds, as text.
func all(_ reader: inout FollowReader) throws -> String {
    var text = ""
    while let piece = try reader.next() { text += piece.text }
    return text
}

extension FollowedBytes {
    /// With a mark before another file (`|`) and before a new beginning (`^`).
    var text: String {
        (isReopened ? "|" : "") + (isTruncated ? "^" : "") + String(decoding: bytes, as: UTF8.self)
    }
}

extension Gathered<FollowedBytes> {
    var text: String { all.map(\.text).joined() }
}

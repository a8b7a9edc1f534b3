package import Files
import Glibc
package import PipelineKit
package import SystemPackage

/// Prevents work from starting on a nearly full file system, where it would only be interrupted.
package struct FreeSpace: Sendable {
    private let folders: [FilePath]
    /// The space to keep free.
    package let floor: ByteSize

    /// Watches the file systems of these folders; a floor of 0 bytes watches nothing.
    package init(of folders: [FilePath], floor: ByteSize) {
        self.folders = folders
        self.floor = floor
    }

    /// Throws where less than the floor is free for an ordinary user (f_bavail of statvfs(3)).
    package func check() throws(Failure) {
        guard floor.bytes > 0 else { return }
        for folder in folders {
            guard let info = Self.look(at: folder) else { continue }
            let free = ByteSize(bytes: Int64(clamping: Self.free(in: info)))
            guard free < floor else { continue }
            throw Failure(
                .environment, code: "space.floor",
                summary: "Only \(free) is free on the file system of '\(folder.text)'; `min_free` is \(floor).",
                remedy: "Free space there, or set a lower `min_free`; processing resumes by itself.")
        }
    }

    /// How much room a file system has.
    package struct Space: Sendable, Equatable {
        /// Bytes that are free for an ordinary user, and all that there are.
        package let free: UInt64, total: UInt64
        /// What tells it from others, mostly.
        package let fileSystem: UInt64
    }

    /// That of a folder; nil if unknown.
    package static func space(at folder: FilePath) -> Space? {
        look(at: folder).map { info in
            Space(
                free: free(in: info), total: UInt64(info.f_blocks).multipliedSaturated(by: UInt64(info.f_frsize)),
                fileSystem: UInt64(info.f_fsid))
        }
    }

    private static func free(in info: statvfs) -> UInt64 {
        UInt64(info.f_bavail).multipliedSaturated(by: UInt64(info.f_frsize))
    }

    /// The capacity of a folder's file system; nil if unknown.
    static func capacity(of folder: FilePath) -> ByteSize? {
        guard FileSystemKind.of(folder) == .local, let info = look(at: folder), info.f_blocks > 0 else { return nil }
        return ByteSize(bytes: Int64(clamping: UInt64(info.f_blocks).multipliedSaturated(by: UInt64(info.f_frsize))))
    }

    /// The file system of a folder, or of the one above it that it will be made in; nil for what cannot be asked, which
    /// shows itself when it is used.
    private static func look(at folder: FilePath) -> statvfs? {
        var info = statvfs()
        var folder = folder
        while folder.withPlatformString({ statvfs($0, &info) }) != 0 {
            let above = folder.removingLastComponent()
            guard Errno.last == .noSuchFileOrDirectory, above != folder, !above.isEmpty else { return nil }
            folder = above
        }
        return info
    }
}

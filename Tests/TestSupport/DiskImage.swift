import Glibc
import PipelineKit
package import SystemPackage

/// An ext4 or xfs file system in a file, mounted through a loop device: a disk whose power can be cut. Needs root.
package final class DiskImage: Sendable {
    /// Where it is mounted.
    package let path: FilePath
    private let image: FilePath

    /// Whether this machine can mount images, and why not.
    package static let isPossible: Bool = {
        guard geteuid() == 0, Tool.find("mkfs.ext4") != nil else { return false }
        do {
            let scratch = try ScratchFolder()
            _ = try DiskImage(at: scratch.path("disk"))
            return true
        } catch {
            return false
        }
    }()

    /// Why a test that needs one is skipped.
    package static let skip = "needs root, loop devices and mkfs.ext4"

    /// The same for an image of xfs, whose files may be as large as a number of 64 bits says.
    package static let isXFSPossible: Bool = {
        guard geteuid() == 0, Tool.find("mkfs.xfs") != nil else { return false }
        do {
            let scratch = try ScratchFolder()
            _ = try DiskImage(xfs: scratch.path("disk"))
            return true
        } catch {
            return false
        }
    }()

    /// Makes and mounts an image of xfs at `path`, which is made if missing. It is as small as mkfs.xfs allows.
    package convenience init(xfs path: FilePath) throws {
        try self.init(at: path, megabytes: 300, maker: "mkfs.xfs", ["-q", "-f"])
    }

    /// Makes and mounts an image at `path`, which is made if missing; its file lies beside it.
    package convenience init(at path: FilePath, megabytes: Int = 32) throws {
        try self.init(at: path, megabytes: megabytes, maker: "mkfs.ext4", ["-q", "-F", "-b", "4096"])
    }

    private init(at path: FilePath, megabytes: Int, maker: String, _ options: [String]) throws {
        self.path = path
        image = FilePath(path.string + ".img")
        try Folder.make(path)
        let file = try OpenFile.open(image, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        guard ftruncate(file.descriptor, megabytes << 20) == 0 else { throw IOError("size", image, .last) }
        try file.close()
        try Self.run(maker, options + [image.string])
        try mount()
    }

    /// Mounts it, which replays the file system's own journal.
    private func mount() throws { try Self.run("mount", ["-o", "loop", image.string, path.string]) }

    /// Has the file system end as after a fault that it cannot go on from; of xfs only, whose tools can do that.
    package func shutDown() throws { try Self.run("xfs_io", ["-x", "-c", "shutdown", path.string]) }

    /// After its power was cut: what was not on the disk is gone.
    package func powerOn() throws {
        try Self.run("umount", [path.string])
        try awaitRelease()
        try mount()
    }

    /// A process in a mount namespace of its own, copied while the image was mounted, keeps it mounted there: mounted
    /// anew it would be the same dead file system.
    private func awaitRelease() throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try !Self.run("losetup", ["-j", image.string]).isEmpty {
            guard ContinuousClock.now < deadline else { throw DiskImageError("'\(image.text)' stays in use") }
        }
    }

    deinit { _ = path.withPlatformString { umount2($0, Int32(MNT_DETACH)) } }

    @discardableResult
    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        guard let tool = Tool.find(program) else { throw DiskImageError("there is no \(program)") }
        let output = try tool.run(arguments)
        guard output.status == 0 else { throw DiskImageError("\(program): \(output.text)") }
        return output.text
    }
}

/// Why an image cannot be used.
package struct DiskImageError: Error, CustomStringConvertible {
    /// A sentence.
    package let description: String
    init(_ description: String) { self.description = description }
}

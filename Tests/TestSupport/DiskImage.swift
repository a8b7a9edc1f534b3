import Files
import Glibc
package import SystemPackage

/// An ext4 or xfs file system in a file, mounted through a loop device: a disk whose power can be cut. Needs root.
package final class DiskImage: Sendable {
    /// Where it is mounted.
    package let path: FilePath
    private let image: FilePath

    /// Its file system.
    package enum Kind: String, Sendable, CaseIterable {
        case ext4
        /// Its files may be as large as a number of 64 bits says.
        case xfs

        /// Whether this machine can mount such images.
        package var isPossible: Bool {
            switch self {
            case .ext4: DiskImage.isPossible
            case .xfs: DiskImage.isXFSPossible
            }
        }

        fileprivate var maker: (name: String, options: [String]) {
            switch self {
            case .ext4: ("mkfs.ext4", ["-q", "-F", "-b", "4096"])
            case .xfs: ("mkfs.xfs", ["-q", "-f"])
            }
        }

        /// 300 MiB are the least that mkfs.xfs allows.
        fileprivate var megabytes: Int { self == .ext4 ? 32 : 300 }
    }

    /// Whether this machine can mount images of ext4.
    package static let isPossible = canMount(.ext4)

    /// The same of xfs.
    package static let isXFSPossible = canMount(.xfs)

    /// Why a test that needs one is skipped.
    package static let skip = "needs root, loop devices, mkfs.ext4 and mkfs.xfs"

    private static func canMount(_ kind: Kind) -> Bool {
        guard geteuid() == 0, Tool.find(kind.maker.name) != nil else { return false }
        do {
            let scratch = try ScratchFolder()
            _ = try DiskImage(kind, at: scratch.path("disk"))
            return true
        } catch {
            return false
        }
    }

    /// Makes and mounts an image of xfs at `path`, which is made if missing.
    package convenience init(xfs path: FilePath) throws { try self.init(.xfs, at: path) }

    /// Makes and mounts an image of ext4 at `path`, which is made if missing; its file lies beside it. `block`: bytes.
    package convenience init(at path: FilePath, megabytes: Int? = nil, block: Int = 4096) throws {
        try self.init(.ext4, at: path, megabytes: megabytes, ["-b", "\(block)"])
    }

    /// Makes and mounts an image at `path`, which is made if missing; its file lies beside it.
    package init(_ kind: Kind, at path: FilePath, megabytes: Int? = nil, _ options: [String] = []) throws {
        self.path = path
        image = FilePath(path.string + ".img")
        try Folder.make(path)
        let file = try OpenFile.open(image, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        guard ftruncate(file.descriptor, (megabytes ?? kind.megabytes) << 20) == 0 else {
            throw IOError("size", image, .last)
        }
        try file.close()
        try Self.run(kind.maker.name, kind.maker.options + options + [image.string])
        try mount()
    }

    /// Mounts it, which replays the file system's own journal.
    private func mount() throws { try Self.run("mount", ["-o", "loop", image.string, path.string]) }

    /// Has the file system end as after a fault that it cannot go on from. Ext4 knows the request of xfs's tools, too.
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

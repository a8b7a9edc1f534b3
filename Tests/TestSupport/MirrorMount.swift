import Files
import Glibc
package import SystemPackage

/// A folder shown a second time through bindfs, a FUSE file system: what changes behind it gives no events in it, as on
/// a network file system. Needs root and /dev/fuse.
package final class MirrorMount: Sendable {
    /// Where it is mounted.
    package let path: FilePath

    /// Whether it works here.
    package static let isPossible: Bool = {
        guard geteuid() == 0, Tool.find("bindfs") != nil else { return false }
        do {
            let scratch = try ScratchFolder()
            _ = try MirrorMount(of: scratch.makeFolder("behind"), at: scratch.makeFolder("mirror"))
            return true
        } catch {
            return false
        }
    }()

    /// Why a test that needs one is skipped.
    package static let skip = "needs root, /dev/fuse and bindfs; packaging/install-build-deps.sh --test installs it"

    /// Shows `folder` at `path`, which must exist. `memory`: for how many seconds the kernel remembers names and
    /// attributes.
    package init(of folder: FilePath, at path: FilePath, memory: Int? = nil) throws {
        guard let bindfs = Tool.find("bindfs") else { throw IOError("find", "bindfs", .noSuchFileOrDirectory) }
        let options = memory.map { ["-o", "attr_timeout=\($0),entry_timeout=\($0)"] } ?? []
        let output = try bindfs.run(options + [folder.string, path.string])
        guard output.status == 0 else { throw DiskImageError("bindfs: \(output.text)") }
        self.path = path
    }

    deinit { _ = path.withPlatformString { umount2($0, Int32(MNT_DETACH)) } }
}

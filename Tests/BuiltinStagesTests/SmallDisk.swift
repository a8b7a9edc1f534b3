import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// A file system in memory that is soon full.
struct SmallDisk {
    private let scratch: ScratchFolder
    let path: FilePath

    /// Whether this process may mount one; being root is not enough in most containers.
    static let isPossible: Bool = {
        do {
            try SmallDisk(bytes: 1 << 20).unmount()
            return true
        } catch {
            return false
        }
    }()

    init(bytes: Int) throws {
        scratch = try ScratchFolder()
        path = try scratch.makeFolder("disk")
        let mounted = path.withPlatformString { mount("tmpfs", $0, "tmpfs", 0, "size=\(bytes)") }
        guard mounted == 0 else { throw IOError("mount", path, .last) }
    }

    /// Writes until nothing more fits.
    func fill() throws {
        let file = try OpenFile.open(path.appending(try #require(FileName("filler"))), O_WRONLY | O_CREAT, mode: 0o644)
        let page = [UInt8](repeating: 1, count: 4096)
        do throws(IOError) {
            while true { try file.write(page) }
        } catch {
            try #require(error.errno == .noSpace)
        }
    }

    func unmount() { _ = path.withPlatformString { umount2($0, Int32(MNT_DETACH)) } }
}

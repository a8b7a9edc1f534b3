import CLinux
import Glibc
package import SystemPackage

/// What a program may do, and all that it starts: read and run what is installed, work in its own folder, and nothing
/// else (see CLinuxConfinement.h).
package struct Confinement: Sendable {
    /// Its own folder, where it may do everything but make devices.
    package var folder: FilePath
    /// Files and folders besides what is installed that it may read, and run programs of.
    package var reads: [FilePath]
    /// Whether it may speak with others, here or elsewhere.
    package var hasNetwork: Bool
    /// The most bytes of address space of each process, and of each file.
    package var memory: Int64, fileSize: Int64
    /// The most processes and threads at once, 1 to `mostProcesses`.
    package var processes: Int

    /// The most that `processes` may say.
    package static let mostProcesses = Int(dm_most_processes)

    package init(
        folder: FilePath, reads: [FilePath], hasNetwork: Bool, memory: Int64, fileSize: Int64, processes: Int
    ) {
        self.folder = folder
        self.reads = reads
        self.hasNetwork = hasNetwork
        self.memory = memory
        self.fileSize = fileSize
        self.processes = processes
    }

    /// Programs, libraries and what they ask the kernel about the machine. Of /etc, what everybody may read.
    private static let installed = [
        "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/var/cache/fontconfig",
        "/proc/cpuinfo", "/proc/filesystems", "/proc/meminfo", "/proc/stat", "/proc/version",
        "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu", "/sys/devices/system/node",
    ]
    private static let devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]
    /// Where the names of other hosts are looked up; often a link to elsewhere.
    private static let resolver = "/etc/resolv.conf"

    /// The rules for one run of a program.
    func walls(for program: FilePath) throws(Program.StartFailure) -> Walls {
        guard dm_landlock_version() > 0 else { throw .confinement(.noFunction) }
        let walls = try Walls(self)
        for path in reads { try walls.allow(path, dm_access_read) }
        // The program that the pipeline names, wherever it is. What is missing will be missed when it is started.
        var welcome = Self.installed.map { FilePath($0) } + PublicFiles.list(below: "/etc") + [program]
        if hasNetwork { welcome.append(FilePath(Self.resolver)) }
        for path in welcome { try walls.allow(path, dm_access_read, isOptional: true) }
        for path in Self.devices { try walls.allow(FilePath(path), dm_access_device, isOptional: true) }
        return walls
    }
}

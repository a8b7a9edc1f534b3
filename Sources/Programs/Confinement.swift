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

    /// What a program may do.
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

/// The rules of a confinement, in the kernel.
final class Walls {
    private let rules: Int32
    private let folder: FilePath
    private let confinement: Confinement

    fileprivate init(_ confinement: Confinement) throws(Program.StartFailure) {
        self.confinement = confinement
        // As the kernel names it: the keeper compares paths.
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard confinement.folder.withPlatformString({ realpath($0, &text) }) != nil else {
            throw .program(Errno(rawValue: errno))
        }
        folder = FilePath(platformString: text)
        rules = dm_new_rules(confinement.hasNetwork ? 1 : 0)
        guard rules >= 0 else { throw .confinement(Errno(rawValue: errno)) }
        try allow(folder, dm_access_all)
    }

    deinit { close(rules) }

    /// Opens a way through. An optional one may be missing, or closed to this process too.
    fileprivate func allow(
        _ path: FilePath, _ access: dm_access, isOptional: Bool = false
    ) throws(Program.StartFailure) {
        let result = path.withPlatformString { dm_allow(rules, $0, access) }
        guard result != 0 else { return }
        let error = Errno(rawValue: errno)
        // Where it cannot be opened.
        if result == -1, !isOptional { throw .reading(path, error) }
        if result == -2 { throw .confinement(error) }
    }

    func withConfinement<Result>(_ body: (UnsafePointer<dm_confinement>) -> Result) -> Result {
        folder.withPlatformString { path in
            var value = dm_confinement()
            value.rules = rules
            value.folder = path
            value.network = confinement.hasNetwork ? 1 : 0
            value.memory = UInt64(confinement.memory)
            value.file_size = UInt64(confinement.fileSize)
            value.processes = UInt32(confinement.processes)
            return body(&value)
        }
    }
}

import CLinux
import Glibc
import SystemPackage

/// The rules of a confinement, in the kernel.
final class Walls {
    private let rules: Int32
    private let folder: FilePath
    private let confinement: Confinement

    init(_ confinement: Confinement) throws(Program.StartFailure) {
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
    func allow(
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

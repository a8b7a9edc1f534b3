import CLinux
package import SystemPackage

extension OpenFile {
    /// A pipe whose ends no program inherits by chance.
    package static func pipe() throws(Errno) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard dm_pipe(&ends) == 0 else { throw .last }
        return (ends[0], ends[1])
    }

    /// The number of the mount that it is on, or -1 where the kernel has none. Two mounts of one file system have the
    /// same device, but a rename between them fails with EXDEV.
    package var mount: Int64 { dm_mount_id_of(descriptor) }
}

package import Files
package import Glibc
package import SystemPackage

/// The socket in the state folder, on which a running daemon answers questions.
package enum ControlSocket {
    package static let name = "control.sock"

    /// Room for a socket's path with its NUL (unix(7)).
    private static let longestPath = 108

    /// Calls the body with the socket's address; the folder is held open meanwhile.
    package static func withAddress<Result>(
        in folder: FilePath, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(IOError) -> Result {
        let plain = folder.appending(name)
        if plain.bytes.count < longestPath { return try withAddress(of: plain, body) }
        // A longer path is reached by the open folder; there is no `bindat`. Not for reading, which not all may.
        let open = try OpenFile.open(folder, OpenFile.pathOnly | O_DIRECTORY)
        return try withAddress(of: FilePath("/proc/self/fd/\(open.descriptor)/\(name)"), body)
    }

    private static func withAddress<Result>(
        of path: FilePath, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(IOError) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = path.bytes
        guard bytes.count < longestPath else { throw IOError("make a socket of", path, .fileNameTooLong) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// A stream socket without a name.
    package static func make(blocking: Bool) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        return socket(AF_UNIX, blocking ? kind : kind | Int32(SOCK_NONBLOCK.rawValue), 0)
    }
}

import CLinux
import Files
package import SystemPackage

extension OpenFile {
    /// Hands the open file to the process at the other end of a Unix socket (SCM_RIGHTS of unix(7)), along with one
    /// byte that means nothing. What that process may do with it is what this descriptor allows.
    package func hand(over socket: Int32) throws(Errno) {
        var byte: UInt8 = 0
        var file = descriptor
        guard dm_send_packet(socket, &byte, 1, &file, 1) == 1 else { throw .last }
    }
}

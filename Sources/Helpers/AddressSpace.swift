import Glibc

/// The memory of this process.
package enum AddressSpace {
    /// The bytes of address space that the program takes by itself (proc(5), statm); a GiB where that cannot be read.
    package static func size() -> UInt64 {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 1 << 30 }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = read(file, &text, text.count)
        let pages = text.prefix(max(0, count)).prefix { $0 != UInt8(ascii: " ") }
        return (UInt64(String(decoding: pages, as: UTF8.self)) ?? 1 << 18) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }
}

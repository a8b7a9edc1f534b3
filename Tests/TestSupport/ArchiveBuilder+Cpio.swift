/// Writes cpio archives (newc), in which names of one file have one inode and the last of them has the content.
package enum CpioBuilder {
    /// An archive of files: name, inode, number of names, and what comes with this name.
    package static func archive(_ files: [(name: String, inode: Int, names: Int, content: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        func add(_ name: String, _ mode: Int, _ inode: Int, _ names: Int, _ content: String) {
            func field(_ value: Int) -> String {
                let digits = String(value, radix: 16)
                return String(repeating: "0", count: 8 - digits.count) + digits
            }
            let fields = [inode, mode, 0, 0, names, 0, content.utf8.count, 0, 0, 0, 0, name.utf8.count + 1, 0]
            bytes += Array(("070701" + fields.map(field).joined() + name).utf8) + [0]
            bytes += [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
            bytes += Array(content.utf8)
            bytes += [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
        }
        for file in files { add(file.name, 0o100644, file.inode, file.names, file.content) }
        add("TRAILER!!!", 0, 0, 1, "")
        return bytes
    }
}

import CLinux
import Files
import Glibc
package import SystemPackage

/// The mounts that this process sees (mountinfo of proc(5)).
package struct MountTable: Sendable {
    /// One mount.
    package struct Mount: Sendable, Equatable {
        /// Its number, as statx(2) gives it.
        package let id: Int64
        /// Where it is.
        package let point: FilePath
        /// The file system: `ext4`, `nfs4`, `fuse.sshfs`.
        package let kind: String
        /// What is mounted: a device, `server:/export`.
        package let source: String
        /// How it is mounted: `rw`, `acregmax=60`.
        package let options: [String]
        /// Whether nothing can be written.
        package var isReadOnly: Bool { options.contains("ro") }
    }

    private let mounts: [Int64: Mount]

    /// From the text of the file; lines that make no sense are left out.
    package init(_ text: String) {
        let all = text.split(separator: "\n").compactMap(Self.mount)
        mounts = Dictionary(all.map { ($0.id, $0) }) { _, later in later }
    }

    /// As the kernel has it now; empty where it cannot be read.
    package static func now() -> MountTable { MountTable(ProcessFiles.text("/proc/self/mountinfo") ?? "") }

    /// The mount that a path is on; nil where that cannot be told.
    package func mount(of path: FilePath) -> Mount? { mounts[path.withPlatformString { dm_mount_id($0) }] }

    /// `36 35 98:0 /root /mnt rw,noatime master:1 - ext4 /dev/sda1 rw,errors=continue`
    private static func mount(_ line: Substring) -> Mount? {
        let words = line.split(separator: " ")
        guard words.count >= 6, let id = Int64(words[0]), let dash = words.dropFirst(6).firstIndex(of: "-"),
            words.count > dash + 3
        else { return nil }
        let options = (words[5] + "," + words[dash + 3]).split(separator: ",")
        return Mount(
            id: id, point: FilePath(bytes: unescaped(words[4])), kind: String(words[dash + 1]),
            source: EscapedText.of(unescaped(words[dash + 2])), options: options.map { String($0) })
    }

    /// Spaces and the like stand as a backslash and three octal digits.
    private static func unescaped(_ word: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = word.utf8[...]
        while let byte = rest.popFirst() {
            let digits = String(Substring(rest.prefix(3)))
            guard byte == UInt8(ascii: "\\"), digits.utf8.count == 3, let value = UInt8(digits, radix: 8) else {
                bytes.append(byte)
                continue
            }
            bytes.append(value)
            rest = rest.dropFirst(3)
        }
        return bytes
    }
}

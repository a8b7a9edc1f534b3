import CLinux
import Files
import Glibc
package import SystemPackage

/// Small files that the kernel generates when they are read.
package enum ProcessFiles {
    /// The whole text; nil where it cannot be read.
    package static func text(_ path: FilePath) -> String? {
        do throws(IOError) {
            return String(decoding: try SmallFile.read(OpenFile.open(path, O_RDONLY), atMost: .max), as: UTF8.self)
        } catch {
            return nil
        }
    }

    /// Whether a process was stopped (SIGSTOP), and stands still until it is told to go on: `pid (comm) T …`, where a
    /// program's name may hold anything.
    package static func isStopped(_ process: Int32) -> Bool {
        let fields = text(FilePath("/proc/\(process)/stat")).map { $0[($0.lastIndex(of: ")") ?? $0.startIndex)...] }
        return ["T", "t"].contains(fields?.dropFirst(2).first)
    }

    /// A whole number.
    package static func number(_ path: FilePath) -> Int? {
        text(path).flatMap { Int($0.prefix { $0.isNumber }) }
    }
}

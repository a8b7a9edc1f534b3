import Files
package import Glibc
import SystemPackage

/// The processes of the machine, as /proc tells.
package enum ProcessList {
    /// The children of a process that were started with this word among their arguments, by what they call themselves.
    package static func children(of parent: pid_t, startedWith word: String, named name: String) throws -> [pid_t] {
        try Folder.names(in: "/proc").compactMap { entry in
            guard let id = pid_t(entry.text), let status = text("\(id)/stat"),
                text("\(id)/cmdline")?.split(separator: "\0").contains(Substring(word)) == true
            else { return nil }
            // The name stands in brackets and may hold anything.
            let fields = status[(status.lastIndex(of: ")") ?? status.startIndex)...].split(separator: " ")
            let isNamed = status.contains("(\(name))") && fields.count > 2 && pid_t(fields[2]) == parent
            return isNamed && fields[1] != "Z" ? id : nil
        }
    }

    /// Whether there is no such process, not even one that nobody has waited for.
    package static func isGone(_ process: pid_t) -> Bool { kill(process, 0) == -1 && errno == ESRCH }

    /// The same of another's child: gone, or over and not yet reaped by whoever inherited it.
    package static func isOver(_ process: pid_t) -> Bool { text("\(process)/stat")?.contains(") Z ") ?? true }

    /// What a file below /proc says; nil where the process has ended.
    package static func text(_ path: String) -> String? {
        do throws(IOError) {
            return String(decoding: try ScratchFolder.read(FilePath("/proc/\(path)")), as: UTF8.self)
        } catch {
            return nil
        }
    }
}

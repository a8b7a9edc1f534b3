import Files
import Glibc
import PipelineKit
import SystemPackage

/// How many watches and instances of inotify a user may have, and has (inotify(7)).
struct InotifyLimits {
    private static let settings = FilePath("/proc/sys/fs/inotify")

    /// Each limit's name and value, and how much of it this user's visible processes use.
    static func findings(needed: Int) -> [Finding] {
        let used = used()
        return [
            finding(.watches, "max_user_watches", used: used.watches, needed: needed),
            finding(.instances, "max_user_instances", used: used.instances, needed: 1),
        ]
    }

    private static func finding(_ check: Finding.Check, _ setting: String, used: Int, needed: Int) -> Finding {
        guard let limit = ProcessFiles.number(settings.appending(setting)) else {
            return .note(check, "the limit cannot be read", "Check fs.inotify.\(setting) with sysctl")
        }
        return judge(check, setting, used: used, limit: limit, needed: needed)
    }

    /// Pure: near the limit, or over it.
    static func judge(_ check: Finding.Check, _ setting: String, used: Int, limit: Int, needed: Int) -> Finding {
        let fact = "\(used) of \(limit) in use by \(CurrentUser.name)"
        let remedy = "Raise it: sysctl fs.inotify.\(setting)=\(max(limit * 4, (used + needed) * 2))"
        if used + needed > limit { return .problem(check, "\(fact), and \(needed) more are needed", remedy) }
        if used + needed > limit / 10 * 9 { return .note(check, "\(fact), near the limit", remedy) }
        return .good(check, fact)
    }

    private static func used() -> (watches: Int, instances: Int) {
        var (watches, instances) = (0, 0)
        for process in entries("/proc") where process.bytes.allSatisfy({ (0x30...0x39).contains($0) }) {
            let folder = FilePath("/proc").appending(process)
            guard FileStatus.of(folder, followingLinks: true)?.st_uid == geteuid() else { continue }
            for descriptor in entries(folder.appending("fd")) {
                guard link(folder.appending("fd").appending(descriptor)) == "anon_inode:inotify" else { continue }
                instances += 1
                let text = ProcessFiles.text(folder.appending("fdinfo").appending(descriptor)) ?? ""
                watches += text.split(separator: "\n").count { $0.hasPrefix("inotify wd:") }
            }
        }
        return (watches, instances)
    }

    /// A process may be gone meanwhile, or closed to us: it has nothing then that could be counted.
    private static func entries(_ folder: FilePath) -> [FileName] {
        do throws(IOError) { return try Folder.names(in: folder) } catch { return [] }
    }

    private static func link(_ path: FilePath) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            let count = path.withPlatformString { readlink($0, base, buffer.count) }
            return String(decoding: buffer[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}

import SystemPackage
import TestSupport

/// Something that is done to the program at its system calls; `Tests/faultline/main.c` says how.
struct Faultline: Sendable, CustomStringConvertible {
    /// What is done.
    enum Deed: Sendable {
        case kill
        case fail(String)
        /// The call is made, and says that it failed: an answer that got lost.
        case deny(String)
        case short
        /// It stands still before or after the call until it gets a SIGCONT.
        case stop(isMade: Bool)
        /// Cuts the power of these file systems; `busy`: where somebody else syncs something just before.
        case cut([FilePath], busy: [FilePath])
    }

    /// The calls that count.
    var calls: [String]
    /// Only calls on paths like this.
    var path: String
    /// From the first of them on such a path on; nil: all.
    var from: String?
    /// At which of them; nil: at none, they are only counted.
    var at: Int?
    /// Whether at all later ones too.
    var andLater = false
    var deed = Deed.kill
    /// Calls that are not made at all, though they seem to succeed.
    var skipped: [String] = []
    /// On which paths they are not made.
    var skippedPath = "*"
    /// From the first call on such a path on, and up to the first on such a one; nil: all the time.
    var skippedAfter: String?
    var skippedUntil: String?
    /// Calls that the file system does not know.
    var unknown: [String] = []
    /// Where the calls are written down.
    var log: FilePath?

    /// What changes something on the disk, or brings it there.
    static let changing = [
        "rename", "renameat", "renameat2", "fsync", "fdatasync", "syncfs", "pwrite64", "write", "mkdir", "mkdirat",
        "unlink", "unlinkat", "link", "linkat", "create", "ftruncate", "rmdir", "copy_file_range",
    ]

    /// What brings something to the disk.
    static let syncs = ["fsync", "fdatasync", "syncfs"]

    static let program = DropmillProcess.built("faultline")

    /// Whether this machine lets one process trace another.
    static let isPossible: Bool = {
        do {
            return try Tool(program).run(["--calls", "write", "--", "/bin/true"]).status == 0
        } catch {
            return false
        }
    }()

    static let skip = "needs the right to trace its own children (ptrace, seccomp)"

    /// The words that start a program under it.
    var wrapper: [String] {
        var words = [Self.program.string, "--calls", calls.joined(separator: ","), "--path", path]
        if let from { words += ["--from", from] }
        if let at {
            words += ["--at", "\(at)\(andLater ? "+" : "")"]
            switch deed {
            case .kill: words += ["--kill"]
            case .fail(let error): words += ["--error", error]
            case .deny(let error): words += ["--deny", error]
            case .short: words += ["--short"]
            case .stop(let isMade): words += ["--stop", isMade ? "after" : "before"]
            case .cut(let folders, let busy):
                words += folders.flatMap { ["--cut", $0.string] } + busy.flatMap { ["--busy", $0.string] }
            }
        }
        if !skipped.isEmpty { words += ["--skip", skipped.joined(separator: ","), "--skip-path", skippedPath] }
        if let skippedAfter { words += ["--skip-after", skippedAfter] }
        if let skippedUntil { words += ["--skip-until", skippedUntil] }
        if !unknown.isEmpty { words += ["--without", unknown.joined(separator: ",")] }
        if let log { words += ["--log", log.string] }
        return words + ["--"]
    }

    var description: String { wrapper.dropFirst().dropLast().joined(separator: " ") }

    /// One call that was made.
    struct Call: Sendable, Equatable {
        var name: String
        var path: String
        var target = ""
        /// When it was entered and left, as places in the order of all that happened.
        var begun: Int
        var ended = Int.max
        /// What it returned.
        var result = 0
    }

    /// Reads what was written down.
    static func calls(in log: FilePath) throws -> [Call] {
        var calls: [Int: Call] = [:]
        var order: [Int] = []
        let lines = String(decoding: try ScratchFolder.read(log), as: UTF8.self).split(separator: "\n")
        for (place, line) in lines.enumerated() {
            let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard words.count > 2, let number = Int(words[1]) else { continue }
            if words[0] == "call", words.count == 6 {
                calls[number] = Call(name: words[3], path: words[4], target: words[5], begun: place)
                order.append(number)
            } else if words[0] == "done" {
                calls[number]?.ended = place
                calls[number]?.result = Int(words[2]) ?? 0
            }
        }
        return order.compactMap { calls[$0] }
    }
}

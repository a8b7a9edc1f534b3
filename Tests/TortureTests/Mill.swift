import Files
import Glibc
import Journal
import SQLiteJournal
import SystemPackage
import TestSupport

/// A pipeline in a folder of its own, what was dropped into it, and the program to run over it.
struct Mill {
    let root: FilePath
    var layout: Ledger.Layout
    var ledger = Ledger()
    /// The state folder.
    var state: FilePath
    /// Where its pipeline files are.
    var pipelines: FilePath
    /// Where logs go: never into a folder that loses power.
    var logs: FilePath

    /// The longest that one run to the end may take.
    private static let patience = 120

    init(at root: FilePath) {
        self.root = root
        layout = Ledger.Layout(below: root)
        state = root.appending("state")
        pipelines = root.appending("pipelines")
        logs = root
    }

    /// Makes the folders and the pipeline file. `rules`: further lines of it; `first`: a stage before the others;
    /// `keepsLists`: whether one of its stages does.
    func build(quiet: String = "10ms", _ rules: [String] = [], first: String? = nil, keepsLists: Bool = true) throws {
        for folder in [layout.inbox, layout.processed, layout.failed, layout.output, pipelines] {
            try Folder.make(folder)
        }
        try define("all", layout.inbox, quiet, rules, first, keepsLists: keepsLists)
        if let twin = layout.twin {
            try Folder.make(twin.inbox)
            try define("twin", twin.inbox, quiet, rules, first)
        }
    }

    private func define(
        _ name: String, _ inbox: FilePath, _ quiet: String, _ rules: [String], _ first: String?,
        keepsLists: Bool = true
    ) throws(IOError) {
        let head = [
            "name: \(name)", "inbox: \(inbox.string)", "processed: \(layout.processed.string)",
            "failed: \(layout.failed.string)", "ready: { quiet: \(quiet) }", "stages:",
        ]
        let stages = [
            "unpack", "checksum: { manifest: SHA256SUMS, when: { not: \"*.listed\" } }",
            "checksum: { manifest: SHA256SUMS, into: list, when: \"*.listed\" }",
            "move: { to: \"\(layout.output.string)/{stem}\", when: { not: \"*.listed\" } }",
            "move: { to: \"\(layout.output.string)/by-{ext}\", when: \"*.listed\" }",
        ]
        let own = stages.filter { keepsLists || !$0.contains("into: list") }
        let lines = head + ((first.map { [$0] } ?? []) + own).map { "  - \($0)" }
        let text = (lines + rules).map { $0 + "\n" }.joined()
        try write(Array(text.utf8), to: pipelines.appending("\(name).yaml"))
    }

    func write(_ bytes: [UInt8], to path: FilePath) throws(IOError) {
        let file = try OpenFile.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try file.write(bytes)
        try file.sync()
        try file.close()
    }

    // MARK: Dropping

    /// Writes the drop elsewhere and renames it into the inbox, so that it is whole at once. One of that name that has
    /// not been claimed yet stays, and nothing is dropped: who replaces a file in the inbox wants the old one gone.
    private mutating func drop(
        _ name: String, _ bytes: [UInt8], _ fate: Ledger.Fate, toTwin: Bool = false
    ) throws {
        let target = (toTwin ? layout.twin?.inbox ?? layout.inbox : layout.inbox).appending(name)
        guard Folder.kind(of: target) == nil else { return }
        let outside = root.appending("outside")
        try write(bytes, to: outside)
        guard outside.withPlatformString({ from in target.withPlatformString { Glibc.rename(from, $0) } }) == 0 else {
            throw IOError("rename", target, .last)
        }
        ledger.note(name, bytes, fate)
    }

    /// A file that is published as it is. `again`: tells its content from that of another drop of the same name.
    mutating func dropPlain(_ name: String, again: Int = 1, size: Int = 100, fate: Ledger.Fate = .published) throws {
        try drop(name, Self.content("\(name)#\(again)", size: size), fate)
    }

    /// The same name in both inboxes.
    mutating func dropTwins(_ name: String) throws {
        try dropPlain(name)
        try drop(name, Self.content("\(name) of the twin"), .published, toTwin: true)
    }

    /// Takes what was published of a file, and what lies beside it, out of the output folder. False as long as it is
    /// not there.
    mutating func fetch(_ name: String, again: Int) throws -> Bool {
        let stem = FileName(name).map { String(decoding: $0.stem, as: UTF8.self) } ?? name
        let path = layout.output.appending(stem).appending(name)
        guard Folder.kind(of: path) != nil else { return false }
        let content = Self.content("\(name)#\(again)")
        guard try ScratchFolder.read(path) == content else { throw IOError("fetch", path, .ioError) }
        try Folder.remove(path)
        try Folder.remove(FilePath(path.string + ".sha256"))
        ledger.noteFetched(content)
        return true
    }

    /// An archive of so many files.
    mutating func dropZip(_ name: String, again: Int = 1, members: Int = 3, size: Int = 60) throws {
        let names = (1...members).map { $0 == 1 ? "folder/member-1" : "member-\($0)" }
        try dropZip(name, again: again, memberNames: names, size: size)
    }

    /// An archive of files with these names; `fate`: if it is not to be unpacked.
    mutating func dropZip(
        _ name: String, again: Int = 1, memberNames: [String], size: Int = 60, fate: Ledger.Fate? = nil
    ) throws {
        var zip = ZipBuilder()
        var contents: [String: [UInt8]] = [:]
        for member in memberNames {
            contents[member] = Self.content("\(name)#\(again)/\(member)", size: size)
            zip.add(Array(member.utf8), content: contents[member] ?? [])
        }
        try drop(name, zip.finished, fate ?? .unpacked(contents))
    }

    /// An archive that ends too early.
    mutating func dropBadZip(_ name: String, again: Int = 1) throws {
        var zip = ZipBuilder()
        for member in ["x", "y"] { zip.add(Array(member.utf8), content: Self.content("\(name)#\(again)/\(member)")) }
        try drop(name, Array(zip.finished.prefix(zip.finished.count / 2)), .failed)
    }

    /// A file that lay in processed before anything was dropped.
    mutating func standInProcessed(_ name: String) throws { try stand(layout.processed, name) }

    /// The same in the folder that files with this stem are published in.
    mutating func standInOutput(_ stem: String, _ name: String) throws {
        try Folder.make(layout.output.appending(stem))
        try stand(layout.output.appending(stem), name)
    }

    private mutating func stand(_ folder: FilePath, _ name: String) throws {
        let path = folder.appending(name)
        try write(Self.content("standing \(name)"), to: path)
        ledger.noteStanding(path, Self.content("standing \(name)"))
    }

    /// A list that somebody else began, some bytes short of a block of the file system: what is added to it goes on in
    /// another one.
    mutating func standInList(size: Int = 4000) throws {
        let digest = String(repeating: "0", count: 64)
        let lines = (0..<max(1, size / 80)).map { "\(digest)  their-file-\(100 + $0)" }
        let folder = layout.output.pushing("by-listed")
        try Folder.make(folder)
        try write(Array((lines.joined(separator: "\n") + "\n").utf8), to: folder.appending("SHA256SUMS"))
        ledger.noteStandingLines(lines)
    }

    /// What gets lines in a list.
    mutating func dropListed(_ count: Int = 3) throws {
        for number in 1...count { try dropPlain("\(number).listed", fate: .listed) }
    }

    /// A little of everything.
    mutating func dropMixed() throws {
        try standInProcessed("three.zip")
        try dropPlain("plain.txt")
        // These go together: small, and two of them under names that turn out to be taken.
        try standInOutput("taken", "taken.txt")
        try standInOutput("beside", "beside.txt.sha256")
        for name in ["taken.txt", "beside.txt", "small-1.txt", "small-2.txt"] { try dropPlain(name) }
        try dropZip("three.zip")
        try dropBadZip("bad.zip")
        try standInList()
        try dropListed()
    }

    static func content(_ title: String, size: Int = 100) -> [UInt8] {
        var bytes = Array("\(title)\n".utf8)
        let count = max(1, size / bytes.count) * bytes.count
        // Doubled, since byte by byte takes long in a debug build.
        while bytes.count < count { bytes += bytes.prefix(count - bytes.count) }
        return bytes
    }

    // MARK: Running

    /// How a run ended.
    struct Run {
        let status: Int32
        let log: String
    }

    /// Runs `dropmill run --once` to its end; 124 where it does not come to one. Blocks. `booted`: as if the machine
    /// had been started since.
    func runOnce(_ fault: Faultline? = nil, booted: Bool = false) throws -> Run {
        var limit = ["/usr/bin/timeout", "-s", "TERM", "-k", "5", "\(Self.patience)"]
        if booted { limit = try bootedWrapper() + limit }
        let log = logs.appending("log")
        try Folder.remove(log)
        var process = try start(once: true, log: log, wrapper: limit + (fault?.wrapper ?? []))
        let status = try process.wait()
        return Run(status: status, log: try process.text())
    }

    /// Gives the program another boot id (random/boot_id of proc(5)), in a mount namespace of its own. Needs root.
    private func bootedWrapper() throws -> [String] {
        let id = logs.appending("boot_id")
        try write(Array("00000000-0000-4000-8000-000000000001\n".utf8), to: id)
        // Disks of other trials are left to these: as long as they are mounted here, too, they are not free.
        let script = """
            for disk in $(awk -v own='\(logs.string)/' '/^.dev.loop/ && index($2, own) != 1 { print $2 }' /proc/mounts)
            do case $disk in */dropmill-test.*) umount -l "$disk" ;; esac; done
            mount --bind '\(id.string)' /proc/sys/kernel/random/boot_id && exec "$@"
            """
        return ["/usr/bin/unshare", "-m", "/bin/sh", "-c", script, "sh"]
    }

    /// Starts the program.
    func start(
        once: Bool = false, log: FilePath, level: String = "warning", wrapper: [String] = []
    ) throws -> DropmillProcess {
        let words = ["run", pipelines.string, "--state", state.string, "--log-format", "json"]
        return try DropmillProcess(
            words + ["--log-level", level] + (once ? ["--once"] : []), in: logs, log: log, wrapper: wrapper)
    }

    /// What counts as a point: calls on anything below the mill's folder, and on the state folder wherever it is.
    func fault(_ calls: [String] = Faultline.changing) -> Faultline {
        Faultline(calls: calls, path: "@(\(root.string)|\(state.string))*", log: nil)
    }

    /// How many such calls a whole run makes.
    func countCalls(_ calls: [String] = Faultline.changing) throws -> Int { try countCalls(fault(calls)) }

    /// The same of those that count for a fault.
    func countCalls(_ fault: Faultline) throws -> Int {
        var fault = fault
        let log = logs.appending("calls")
        fault.log = log
        _ = try runOnce(fault)
        return try Faultline.calls(in: log).count
    }

    /// Whether nothing is wrong now. Of a daemon at work: what is moved while it is looked at looks wrong, for once.
    func holds(_ moment: Ledger.Moment) -> Bool {
        do { return try violations(moment).isEmpty } catch { return false }
    }

    /// Drops that more jobs are said to have ended with than there were: the journal knew of an end that was not on the
    /// disk yet, and the drop was another job's after that.
    func doubleRows() throws -> [String] {
        let journal = try SQLiteJournal.open(reading: state)
        defer { journal.close() }
        let ended = try journal.jobs(JobQuery()).filter { [.processed, .failed].contains($0.state) }
        return Dictionary(grouping: ended, by: \.drop.name.text).compactMap { name, jobs in
            let drops = ledger.drops.count { $0.name == name }
            return jobs.count > drops ? "'\(name)' was dropped \(drops) times and ended \(jobs.count) times" : nil
        }
    }

    /// What is wrong now.
    func violations(_ moment: Ledger.Moment) throws -> [Ledger.Violation] {
        try ledger.violations(in: layout, at: moment)
    }
}

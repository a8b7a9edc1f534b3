@preconcurrency import Dispatch
import Files
import FolderWatch
import Glibc
import PipelineKit
import Synchronization
import SystemPackage

/// A file in the work folder that names the host of its daemon. A lock on a folder (flock(2)) excludes other
/// processes of this host; on a shared file system only this file excludes other hosts.
final class WorkOwner: Sendable {
    struct Holder: Sendable, Equatable {
        var host: String
        /// Distinguishes hosts with the same name (machine-id(5)).
        var machine: String
        /// The host's boot (random/boot_id of proc(5)).
        var boot: String
        var process: Int
        /// A number unique to this start.
        var incarnation: UInt64

        /// Whether it has the name of another host's. That of none: hosts that were cloned have one name.
        func isNamesake(of other: Holder) -> Bool { (host, machine) == (other.host, other.machine) }

        /// Whether another host said so, so long ago, while this one has been up for so long. A host of our own name
        /// and another boot may be ourselves before it; not where it was heard of since.
        func isForeign(to own: Holder, _ age: Duration, since up: Duration) -> Bool {
            isNamesake(of: own) ? boot != own.boot && age < up : true
        }
    }

    private static let name = "owner"

    /// Whether it is a name that this uses in a work folder: the file that counts, and beside it one for each process
    /// that is about to write it, since two hosts may be at it at once.
    static func isName(_ name: FileName) -> Bool {
        let parts = name.text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.first.map { $0 == Self.name } == true
            && (parts.count == 1 || parts.count == 2 && UInt64(parts[1]) != nil)
    }

    /// Whether what has the name in a folder may be replaced: nothing, what a daemon wrote, or what a power cut left of
    /// that.
    static func isOwn(in work: FilePath) throws(IOError) -> Bool {
        let file = work.appending(name)
        guard let found = try FileIdentity.examine(file) else { return true }
        guard FileKind(mode: found.status.st_mode) == .regular, found.status.st_size < longest else { return false }
        let bytes = try SmallFile.read(file, atMost: longest)
        return bytes.allSatisfy { $0 == 0 } || Holder(String(decoding: bytes, as: UTF8.self)) != nil
    }

    /// The most bytes that are read of it.
    private static let longest = 1 << 12

    private var draft: String { "\(Self.name).\(own.incarnation)" }

    /// How often it is renewed on a shared file system, and the age at which its host counts as gone.
    private static let interval = Duration.seconds(30), patience = Duration.seconds(90)

    private let work: FilePath
    private let own: Holder
    private let isTakenAway = Mutex(false)
    private let timer: Mutex<(any DispatchSourceTimer)?>

    /// Takes a work folder for this process, which has its lock. `isShared`: whether other hosts may see it; then one
    /// that another host has renewed lately is refused (`locked`). `up`: for how long this host has been.
    init(
        of work: FilePath, of pipeline: String, isShared: Bool, as own: Holder = .own,
        up: Duration = .nanoseconds(AbsenceDetector.Clocks.now().boot)
    ) throws(FolderError) {
        self.work = work
        self.own = own
        timer = Mutex(nil)
        do throws(IOError) {
            // Both times are from the file system's clock.
            let now = try write()
            if isShared, let found = try Self.read(work) {
                let age = Self.age(found.renewed, at: now)
                if age < Self.patience, found.holder.isForeign(to: own, age, since: up) {
                    throw IOError("take", work, .wouldBlock)
                }
            }
            try acquire()
            // Another host may have done the same in between.
            if isShared, let found = try Self.read(work), found.holder != own {
                throw IOError("take", work, .wouldBlock)
            }
        } catch {
            // A draft that stays is known by its name, and the folder may be taken all the same.
            do throws(IOError) { try Folder.remove(work.appending(draft)) } catch {}
            throw refusal(error)
        }
        guard isShared else { return }
        let queue = DispatchQueue(label: "dropmill.\(pipeline).owner")
        let timer = queue.every(Self.interval, leeway: .seconds(1)) { @Sendable [weak self] in self?.renew() }
        self.timer.withLock { $0 = timer }
    }

    /// Whether another host has taken the work folder, because this one did not renew its hold in time.
    var isLost: Bool { isTakenAway.withLock { $0 } }

    /// Renews this process's hold, unless another host has taken it over.
    func renew() {
        do throws(IOError) {
            // Also a process of a host of our name: ours had to have the lock for that.
            if let found = try Self.read(work), found.holder != own {
                return isTakenAway.withLock { $0 = true }
            }
            _ = try write()
            try acquire()
        } catch {
            // The file system may be unavailable for a while; the next renewal decides.
        }
    }

    /// Releases it immediately.
    func release() {
        timer.withLock { timer in
            timer?.cancel()
            timer = nil
        }
        do throws(IOError) {
            if try Self.read(work)?.holder == own { try Folder.remove(work.appending(Self.name)) }
        } catch {
            // It expires.
        }
    }

    /// Who holds a work folder, and when the hold was last renewed, by the file system's clock.
    static func read(_ work: FilePath) throws(IOError) -> (holder: Holder, renewed: FileTime)? {
        let file = work.appending(name)
        guard Folder.kind(of: file) == .regular else { return nil }
        let text = String(decoding: try SmallFile.read(file, atMost: longest), as: UTF8.self)
        guard let holder = Holder(text), let status = try Spot(file).statusNow else { return nil }
        return (holder, FileTime(status.st_mtim))
    }

    private static func age(_ time: FileTime, at now: FileTime) -> Duration {
        let (seconds, overflow) = now.seconds.subtractingReportingOverflow(time.seconds)
        return overflow ? patience : .seconds(seconds) + .nanoseconds(Int64(now.nanoseconds) - Int64(time.nanoseconds))
    }

    /// Writes it beside the one that counts; returns when, by the file system's clock.
    private func write() throws(IOError) -> FileTime {
        let path = work.appending(draft)
        let file = try OpenFile.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
        try file.write(Array(own.text.utf8))
        let time = FileTime(try file.status().st_mtim)
        try file.close()
        return time
    }

    private func acquire() throws(IOError) {
        try Folder.open(work).rename(FilePath(draft), over: FilePath(Self.name))
    }

    private func refusal(_ error: IOError) -> FolderError {
        guard error.errno == .wouldBlock, let holder = Self.holder(of: work) else {
            return FolderError("the work folder", error, remedy: "it must belong to Dropmill's user")
        }
        let namesake =
            holder.isNamesake(of: own)
            ? ". That host has the same name as this one: give each its own name and /etc/machine-id" : ""
        return FolderError(
            kind: .locked,
            message: "the work folder '\(work.text)' is held by a dropmill on the host '\(holder.host)' (process "
                + "\(holder.process)), which was active in the last \(Self.patience.text); stop that one, or give "
                + "each host its own inbox. If that host is gone, start again after that time\(namesake)")
    }

    private static func holder(of work: FilePath) -> Holder? {
        do throws(IOError) { return try read(work)?.holder } catch { return nil }
    }
}

extension WorkOwner.Holder {
    /// This process.
    static let own = {
        var name = [CChar](repeating: 0, count: 256)
        _ = gethostname(&name, name.count - 1)
        let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        func line(_ path: FilePath) -> String {
            ProcessFiles.text(path)?.split(separator: "\n").first.map(String.init) ?? "unknown"
        }
        return WorkOwner.Holder(
            host: host.isEmpty ? "unknown" : host, machine: line("/etc/machine-id"),
            boot: line("/proc/sys/kernel/random/boot_id"), process: Int(getpid()),
            incarnation: .random(in: .min ... .max))
    }()

    var text: String {
        "host \(host)\nmachine \(machine)\nboot \(boot)\nprocess \(process)\nincarnation \(incarnation)\n"
    }

    /// Parses the file's text; nil if it is not valid.
    init?(_ text: String) {
        var values: [Substring: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            if parts.count == 2 { values[parts[0]] = String(parts[1]) }
        }
        guard let host = values["host"], let machine = values["machine"], let boot = values["boot"],
            let process = values["process"].flatMap({ Int($0) }),
            let incarnation = values["incarnation"].flatMap({ UInt64($0) })
        else { return nil }
        self.init(host: host, machine: machine, boot: boot, process: process, incarnation: incarnation)
    }
}

import CLinux
import Files
import Glibc
import PipelineKit
import SystemPackage

/// Tries what a daemon does in one folder. Everything is tried for real and undone at once.
struct FolderCheck {
    let folder: FilePath
    let mounts: MountTable

    /// The folder itself, or where it is missing the nearest one above it that is there: what it will be made in.
    let existing: FilePath

    init(_ folder: FilePath, mounts: MountTable) {
        self.folder = folder
        self.mounts = mounts
        var existing = folder
        while Folder.kind(of: existing, followingLinks: true) == nil, existing.lastComponent != nil {
            existing.removeLastComponent()
        }
        self.existing = existing
    }

    private var isThere: Bool { existing == folder }

    // MARK: What every folder must allow

    /// The file system, what may be done, and how much room there is.
    func basics(minFree: ByteSize?) -> [Finding] { [fileSystem(), rights()] + (minFree.map { [space($0)] } ?? []) }

    func fileSystem() -> Finding {
        let mount = mounts.mount(of: existing)
        let name = mount?.kind ?? "of unknown type"
        if mount?.isReadOnly ?? false {
            return .problem(
                .fileSystem, "\(name), mounted read-only",
                "Mount '\(mount?.point.text ?? "")' with write access: mount -o remount,rw")
        }
        if case .network = FileSystemKind.of(existing) {
            let source = mount.map { " from \($0.source)" } ?? ""
            return .note(
                .fileSystem, "\(name)\(source), where other machines make changes that this kernel does not see",
                "For an inbox there, set `ready.quiet` above the longest pause of the senders, or use a marker file")
        }
        return .good(.fileSystem, name)
    }

    func rights() -> Finding {
        guard Folder.kind(of: existing, followingLinks: true) == .folder else {
            return .problem(.rights, "'\(existing.text)' is not a folder", "Move it away, or name another folder")
        }
        do throws(IOError) {
            if isThere { try Canary.tidy(folder) }
            _ = try Canary(in: existing)
        } catch {
            if error.errno == .ioError || error.errno.isOfNetwork {
                return .problem(
                    .rights, "cannot be used: \(error.errno)",
                    "Check its disk, mount or server, and the kernel log")
            }
            let what = isThere ? "is not accessible" : "is missing and cannot be created"
            return .problem(
                .rights, "\(what): \(error.errno) for \(CurrentUser.name)",
                isThere
                    ? "Give that user the folder: chown \(CurrentUser.name) '\(folder.text)'"
                    : "Create it for that user: install -d -o \(CurrentUser.name) '\(folder.text)'")
        }
        guard isThere else { return .note(.rights, "does not exist yet; the daemon creates it") }
        return .good(.rights, "files can be listed, created, renamed and removed")
    }

    /// Less than this is as good as none: a start writes about as much.
    private static let least = 128 << 10

    func space(_ floor: ByteSize) -> Finding {
        var info = statvfs()
        guard existing.withPlatformString({ statvfs($0, &info) }) == 0 else {
            return .note(.space, "cannot be determined: \(Errno.last)")
        }
        let free = ByteSize(
            bytes: Int64(clamping: UInt64(info.f_bavail).multipliedSaturated(by: UInt64(info.f_frsize))))
        if !Folder.hasRoom(for: Self.least, in: existing) {
            return .problem(.space, "the file system is full: \(free) free", "Free space there")
        }
        if floor.bytes > 0, free < floor {
            return .problem(
                .space, "\(free) free, but `min_free` keeps \(floor), so nothing is claimed",
                "Free space there, or set a lower `min_free`")
        }
        if info.f_files > 0, info.f_favail == 0 {
            return .problem(
                .space, "\(free) free, but no inodes, so no file can be created", "Delete files there")
        }
        return .good(.space, "\(free) free")
    }

    // MARK: What an inbox must allow besides

    /// Whether drops of others can be taken out, whether changes are heard of, and what can be seen of a file.
    func watching() -> [Finding] {
        guard isThere else { return [] }
        var findings: [Finding] = []
        if let sticky = stickiness() { findings.append(sticky) }
        do throws(IOError) {
            findings += [try events(), try leases(), try times()]
        } catch {
            // `rights` reports what is not permitted here.
        }
        return findings
    }

    /// In a folder with the sticky bit only a file's owner (or the folder's) may rename it.
    private func stickiness() -> Finding? {
        guard let status = FileStatus.of(folder, followingLinks: true), status.st_mode & S_ISVTX != 0 else {
            return nil
        }
        guard geteuid() != 0, status.st_uid != geteuid() else { return nil }
        return .problem(
            .rights, "has the sticky bit, so \(CurrentUser.name) cannot move out what others drop",
            "Give that user the folder: chown \(CurrentUser.name) '\(folder.text)'")
    }

    private static let patience: Int32 = 1000

    private func events() throws(IOError) -> Finding {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else {
            return .problem(
                .events, "inotify cannot be opened (\(Errno.last)); the inbox is polled every 2 s instead",
                "Raise fs.inotify.max_user_instances with sysctl, or the limit of open files")
        }
        defer { close(descriptor) }
        let watch = folder.withPlatformString {
            inotify_add_watch(descriptor, $0, UInt32(IN_CREATE | IN_CLOSE_WRITE | IN_ONLYDIR))
        }
        guard watch >= 0 else {
            return .problem(
                .events, "it cannot be watched (\(Errno.last)); it is polled every 2 s instead",
                Errno.last == .noSpace
                    ? "Raise fs.inotify.max_user_watches with sysctl" : "Give \(CurrentUser.name) the right to read it")
        }
        let start = MonotonicTime.now()
        let canary = try Canary(in: folder)
        var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let isReported = retrying { poll(&ready, 1, Self.patience) } > 0
        let took = MonotonicTime.now() - start
        _ = consume canary
        guard isReported else {
            return .problem(
                .events, "a new file caused no event; drops are found only by scans, every 60 s",
                "Use a folder on a file system that reports inotify events")
        }
        if case .network(let kind) = FileSystemKind.of(folder) {
            return .note(
                .events, "\(kind) reports only this machine's changes, so the folder is polled every 2 s")
        }
        return .good(.events, "a new file was reported after \(Self.milliseconds(took))")
    }

    private func leases() throws(IOError) -> Finding {
        let canary = try Canary(in: folder)
        let reading = try OpenFile.open(canary.path, O_RDONLY | O_NOFOLLOW)
        let isGiven = dm_probe_read_lease(reading.descriptor) == 0
        let refusal = Errno.last
        let writing = try OpenFile.open(canary.path, O_WRONLY | O_NOFOLLOW)
        let isRefused = dm_probe_read_lease(reading.descriptor) != 0
        try writing.close()
        guard isGiven, isRefused else {
            let fact =
                isGiven
                ? "read leases do not reveal open writers here"
                : "read leases do not work here (\(refusal)), so open writers are searched for in /proc"
            return .note(.leases, fact, "Set `ready.quiet` above the longest pause of the senders")
        }
        if case .network(let kind) = FileSystemKind.of(folder) {
            return .note(.leases, "writers on this machine are detected; on \(kind) those on others are not")
        }
        guard CurrentUser.has(capability: CurrentUser.lease) else {
            return .note(
                .leases, "open writers are detected in files of \(CurrentUser.name), not in those of others",
                "Give the daemon CAP_LEASE (AmbientCapabilities=CAP_LEASE in its unit), if others drop files")
        }
        return .good(.leases, "open writers are detected")
    }

    /// The smallest step between two change times.
    private func times() throws(IOError) -> Finding {
        let canary = try Canary(in: folder)
        var last = try Self.changed(canary.path)
        var smallest = Duration.seconds(3)
        let start = MonotonicTime.now()
        var steps = 0
        // A coarse clock shows itself in a few steps; a fine one has many in that time.
        while steps < 20, MonotonicTime.now() - start < .milliseconds(2_500), steps == 0 || !isLong(start) {
            try canary.change()
            let next = try Self.changed(canary.path)
            guard next != last else { continue }
            // The first step may have begun before.
            if steps > 0 || next - last >= .seconds(1) { smallest = min(smallest, next - last) }
            last = next
            steps += 1
        }
        guard smallest >= .milliseconds(500) else {
            return .good(.times, "changes \(Self.milliseconds(smallest)) apart are distinguished")
        }
        return .note(
            .times, "only changes \(smallest.text) apart are distinguished",
            "Set `ready.quiet` to at least twice that")
    }

    /// Whether the measuring has gone on long enough where it has seen a step.
    private func isLong(_ start: MonotonicTime) -> Bool { MonotonicTime.now() - start > .milliseconds(100) }

    private static func changed(_ path: FilePath) throws(IOError) -> Timestamp {
        guard let status = FileStatus.of(path) else { throw IOError("examine", path, .last) }
        return Timestamp(Fingerprint(status).changed)
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let micros = max(1, duration.nanoseconds / 1000)
        if micros < 1000 { return "\(micros) µs" }
        return micros < 10_000 ? "\(micros / 1000).\(micros % 1000 / 100) ms" : "\(micros / 1000) ms"
    }
}

import CLinux
@preconcurrency import Dispatch
package import Files
package import FolderWatch
import Glibc
import Synchronization
package import SystemPackage

/// Finds out who has a drop open for writing, by the best means that there is for it: a read lease, else a look at all
/// processes, else nothing, so that a longer quiet time has to do.
///
/// Used on the inbox's queue and on the queues that claim.
package final class WriterSight: Sendable {
    /// The means in force, the best first.
    package enum Means: Int, Sendable, Comparable {
        /// The kernel refuses a read lease while anybody has the file open for writing (fcntl(2), F_SETLEASE).
        case leases
        /// The descriptors and mappings of all processes.
        case processes
        /// Not detectable.
        case longerQuiet

        /// The better one first.
        package static func < (left: Means, right: Means) -> Bool { left.rawValue < right.rawValue }
    }

    private struct State {
        var scan: ProcessScan?
        var isScanning = false
        /// Scans that a caller waited for.
        var scans = 0
        var restEnds = MonotonicTime(nanoseconds: 0)
        var worst: Means?
        var told: Means?
    }

    /// The name of the network file system that holds the inbox: a lease says nothing of writers on other machines.
    package let network: String?
    private let state = Mutex(State())
    /// Where names are searched for; nil: the caller waits for them.
    private let background: DispatchQueue?

    /// The sight that there is of an inbox. `isPatient`: the name of a writer may be missing from the first answers,
    /// since finding it takes a scan of all processes, which must not delay anyone.
    package init(of inbox: FilePath, isPatient: Bool = false) {
        background = isPatient ? DispatchQueue(label: "dropmill.processes", qos: .utility) : nil
        network = if case .network(let name) = FileSystemKind.of(inbox) { name } else { nil }
    }

    /// The means in force, where it became worse (or was first found) since this was last asked: drops of several
    /// owners may allow different ones.
    package func news() -> Means? {
        state.withLock { state in
            guard state.worst != state.told else { return nil }
            state.told = state.worst
            return state.worst
        }
    }

    /// Whether a look may take a scan of all processes, as far as was seen.
    package var scansProcesses: Bool { state.withLock { $0.worst.map { $0 > .leases } ?? true } }

    /// Who has the open file for writing. `since`: what a look at the processes has to be younger than, if not from
    /// about now.
    package func writers(of descriptor: Int32, _ file: FileIdentity, since: MonotonicTime? = nil) -> OpenWriters {
        if dm_probe_read_lease(descriptor) == 0 {
            note(network == nil ? .leases : .longerQuiet)
            return network == nil ? .none : .unknown
        }
        if Errno.last == .resourceTemporarilyUnavailable {
            note(network == nil ? .leases : .longerQuiet)
            return .some(name(of: file))
        }
        return seen(file, since: since)
    }

    /// What the processes show of a file that gives no lease, or that may not even be read.
    package func seen(_ file: FileIdentity, since: MonotonicTime? = nil) -> OpenWriters {
        guard network == nil else {
            note(.longerQuiet)
            return .unknown
        }
        let scan = scan(since: since, mappings: true)
        note(scan.isComplete ? .processes : .longerQuiet)
        if let writer = scan.writer(of: file) { return .some(writer) }
        return scan.isComplete ? .none : .unknown
    }

    /// A visible process that has one of these folders open or as its current folder, so that it may still add files;
    /// nil if there is none.
    func visitor(of folders: Set<FileIdentity>, since: MonotonicTime? = nil) -> Waiting.Writer? {
        scan(since: since, mappings: false).visitor(of: folders)
    }

    /// The name of a known writer; for display, so it may be some seconds old.
    private func name(of file: FileIdentity) -> Waiting.Writer {
        let (known, mustLook) = state.withLock { state in
            guard let scan = state.scan else { return (nil as Waiting.Writer?, true) }
            let known = scan.writer(of: file)
            let pause = max(known == nil ? Self.oldestUnknown : Self.oldestName, scan.cost * Self.restForLooks)
            return (known, .now() - scan.begun > pause)
        }
        guard mustLook else { return known ?? .unknown }
        guard let background else {
            return scan(since: nil, mappings: true).writer(of: file) ?? .unknown
        }
        let isFirst = state.withLock { state in
            defer { state.isScanning = true }
            return !state.isScanning
        }
        if isFirst { background.async { @Sendable [weak self] in self?.scanForNames() } }
        return known ?? .unknown
    }

    private func scanForNames() {
        let scan = ProcessScan()
        state.withLock { state in
            state.scan = scan
            state.isScanning = false
        }
    }

    private func note(_ means: Means) {
        state.withLock { $0.worst = max($0.worst ?? means, means) }
    }

    /// A look at the processes that began after `since`, or about now. Drops that are decided on together share one; a
    /// machine may have thousands of processes.
    private func scan(since: MonotonicTime?, mappings: Bool) -> ProcessScan {
        state.withLock { state in
            if let scan = state.scan, scan.hasMappings || !mappings {
                let oldest = since ?? .now() - max(Self.oldest, scan.cost * Self.restForLooks)
                if scan.begun >= oldest { return scan }
            }
            let scan = ProcessScan(mappings: mappings)
            state.scan = scan
            state.scans += 1
            if since != nil { state.restEnds = .now() + scan.cost }
            return scan
        }
    }

    /// Until when no fresh scan of the processes is made, so that scans take no more than half of the time.
    package var restEnds: MonotonicTime { state.withLock { $0.restEnds } }

    /// Scans that a caller waited for; for tests.
    var scans: Int { state.withLock { $0.scans } }

    /// How old a scan may be that serves several looks, where scans are cheap; else so many times what one takes. A
    /// drop that an old one lets pass is proved by a new one once it is claimed.
    private static let oldest = Duration.milliseconds(20)
    private static let restForLooks = 20
    /// How old a scan may be that gives a name, and one that does not.
    private static let oldestName = Duration.seconds(10), oldestUnknown = Duration.seconds(1)
}

extension WriterSight.Means {
    /// A word for programs.
    package var word: String {
        switch self {
        case .leases: "leases"
        case .processes: "processes"
        case .longerQuiet: "quiet"
        }
    }

    /// A sentence without a full stop. `quiet`: how long drops must stand unchanged where writers are not detectable.
    package func text(quiet: Duration) -> String {
        switch self {
        case .leases: "open writers are detected by read leases"
        case .processes: "open writers are detected by scanning /proc, because leases do not work here"
        case .longerQuiet:
            "open writers cannot be detected here (a network file system, or files of other "
                + "users); drops must stand unchanged for \(quiet.text). Give Dropmill CAP_LEASE, or set "
                + "`ready.quiet` to what the senders need"
        }
    }
}

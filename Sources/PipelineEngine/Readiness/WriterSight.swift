import CLinux
import Glibc
import PipelineKit
import Synchronization
package import SystemPackage

/// Whether some process has a file open for writing.
package enum OpenWriters: Sendable, Hashable {
    /// None has.
    case none
    /// At least one has; which, as far as it is known.
    case some(Waiting.Writer)
    /// It cannot be told: no leases on this file system, or the file is somebody else's.
    case unknown
    /// Nobody asked.
    case notAsked

    /// Whether a process is known to have it open for writing.
    package var areKnown: Bool { if case .some = self { true } else { false } }
}

/// Finds out who has a drop open for writing, by the best means that there is for it: a read lease, else a look at all
/// processes, else nothing, so that a longer quiet time has to do.
///
/// Asked from the queues of the inbox and of whoever claims.
package final class WriterSight: Sendable {
    /// The means in force, the best first.
    package enum Means: Int, Sendable, Comparable {
        /// The kernel refuses a read lease while anybody has the file open for writing (fcntl(2), F_SETLEASE).
        case leases
        /// The descriptors and mappings of all processes.
        case processes
        /// Nothing tells.
        case longerQuiet

        /// The better one first.
        package static func < (left: Means, right: Means) -> Bool { left.rawValue < right.rawValue }
    }

    private struct State {
        var scan: ProcessScan?
        var worst: Means?
        var told: Means?
    }

    /// The name of the network file system that holds the inbox: a lease says nothing of writers on other machines.
    package let network: String?
    private let state = Mutex(State())

    /// The sight that there is of an inbox.
    package init(of inbox: FilePath) {
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

    /// Who has the open file for writing. `since`: what a look at the processes has to be younger than, if not from
    /// about now.
    func writers(of descriptor: Int32, _ file: FileIdentity, since: MonotonicTime? = nil) -> OpenWriters {
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
    func seen(_ file: FileIdentity, since: MonotonicTime? = nil) -> OpenWriters {
        guard network == nil, let scan = scan(since: since ?? .now() + Self.oldest, rest: Self.rest) else {
            note(.longerQuiet)
            return .unknown
        }
        note(scan.isComplete ? .processes : .longerQuiet)
        if let writer = scan.writer(of: file) { return .some(writer) }
        return scan.isComplete ? .none : .unknown
    }

    /// The name of somebody who is known to be there; for people, so it may be a second old, and is not worth much
    /// time.
    private func name(of file: FileIdentity) -> Waiting.Writer {
        scan(since: .now() + Self.oldestForNames, rest: Self.restForNames)?.writer(of: file) ?? .unknown
    }

    private func note(_ means: Means) {
        state.withLock { $0.worst = max($0.worst ?? means, means) }
    }

    /// A scan that began after `since`: the last one, else a new one, unless that would take more than its share of
    /// the time (a machine may have thousands of processes).
    private func scan(since: MonotonicTime, rest: Int64) -> ProcessScan? {
        state.withLock { state in
            if let scan = state.scan {
                if scan.begun >= since { return scan }
                let end = scan.begun + scan.cost
                if MonotonicTime.now() < end + .nanoseconds(scan.cost.nanoseconds * rest) { return nil }
            }
            let scan = ProcessScan()
            state.scan = scan
            return scan
        }
    }

    /// A scan may serve all drops that are decided on at one time.
    private static let oldest = Duration.milliseconds(-20)
    private static let oldestForNames = Duration.seconds(-1)
    /// Between scans pass at least so many times what one takes.
    private static let rest: Int64 = 2
    private static let restForNames: Int64 = 20
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

    /// A sentence without a full stop. `quiet`: how long drops must stand unchanged where nothing tells.
    package func text(quiet: Duration) -> String {
        switch self {
        case .leases: "open writers are seen by read leases"
        case .processes: "open writers are seen by a look at all processes, since leases do not work here"
        case .longerQuiet:
            "whether a process still writes to a drop cannot be seen here (a network file system, or files of other "
                + "users); drops must stand unchanged for \(quiet.text). Give Dropmill CAP_LEASE, or set "
                + "`ready.quiet` to what the senders need"
        }
    }
}

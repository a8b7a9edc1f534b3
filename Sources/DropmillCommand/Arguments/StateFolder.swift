import ArgumentParser
import Control
import Dispatch
import Files
import Glibc
import Journal
import PipelineConfig
import PipelineEngine
import PipelineKit
import PostgresJournal
import SQLiteJournal
import SystemPackage

/// The folder that holds the journal, and is locked by the daemon that runs. Where nodes share a journal it holds none,
/// and what is known is known on every host.
struct StateFolder {
    let path: FilePath
    /// The place of the journal that nodes share, as libpq takes it; nil: it is in this folder.
    private(set) var shared = JournalOption.configured

    /// The folder that was given, else the one of `DefaultPlaces`. `hasPipelines`: whether pipelines were named.
    init(given: FilePath?, hasPipelines: Bool = false) {
        path =
            given ?? DefaultPlaces(hasPipelines: hasPipelines, state: Environment.variables["DROPMILL_STATE"]).state
    }

    /// With the journal that an option names, else the environment.
    func with(_ journal: JournalOption) -> StateFolder { sharing(journal.place) }

    func sharing(_ place: String?) -> StateFolder {
        var folder = self
        folder.shared = place
        return folder
    }

    /// The journal; `node`: who writes to it, where nodes share it.
    func store(of node: String = Incarnation.hostName, lease: Duration? = nil) -> any JournalStore {
        guard let shared else { return SQLiteStore(in: path) }
        return PostgresStore(shared) { @Sendable in
            Incarnation(of: node, version: BuildVersion.number, lease: lease ?? Incarnation.usualLease)
        }
    }

    /// Whether a daemon is at work on what the journal tells of: one with this folder, or any node; nil if unknown.
    func isAtWork(_ journal: any JournalReading) throws(JournalError) -> Bool? {
        guard shared != nil else { return isHeldIfKnown }
        return try (journal as? any SharedJournal)?.nodes().contains(where: \.isAlive)
    }

    /// Looks into the journal; whoever may not open it is told by the daemon what is in it, and so is who was not told
    /// where a node has it.
    func look<Result>(_ body: (any JournalReading) throws(JournalError) -> Result) throws(JournalError) -> Result {
        guard shared != nil || mayOpenJournal && !isElsewhere else {
            if isHeldIfKnown == false { throw closed }
            return try body(DaemonJournal(of: path))
        }
        let opened = try opening { () throws(JournalError) in try store().openForReading() }
        defer { opened.close() }
        return try body(opened)
    }

    /// Says after a while what is waited for: a disk may not answer.
    private func opening<Opened>(_ open: () throws(JournalError) -> Opened) throws(JournalError) -> Opened {
        let isOver = DispatchSemaphore(value: 0)
        DispatchQueue(label: "dropmill.late").async { @Sendable [path, shared] in
            guard isOver.wait(timeout: .now() + Self.patience) == .timedOut else { return }
            let (place, what) = shared == nil ? (" in '\(path.text)'", "disk") : ("", "server")
            StandardError.print("waiting for the journal\(place); its \(what) is busy, or does not answer …")
        }
        defer { isOver.signal() }
        return try open()
    }

    /// After how many seconds people wonder.
    private static let patience = 5.0

    /// The same. What is wrong with it is printed, and the exit status thrown.
    func read<Result>(_ body: (any JournalReading) throws(JournalError) -> Result) throws(ExitCode) -> Result {
        do throws(JournalError) {
            return try look(body)
        } catch {
            guard shared != nil || mayOpenJournal || isHeldIfKnown != false else {
                StandardError.print("error: \(error.message)")
                throw ExitStatus.forbidden
            }
            throw report(error)
        }
    }

    /// The same for what would be good to know; nil where there is no journal, or nothing in it.
    func peek<Result>(_ body: (any JournalReading) throws(JournalError) -> Result?) -> Result? {
        do throws(JournalError) { return try look(body) } catch { return nil }
    }

    /// Whether this user may change what is in it.
    var isOpen: Bool { path.withPlatformString { faccessat(AT_FDCWD, $0, W_OK | X_OK, AT_EACCESS) } == 0 }

    private var mayOpenJournal: Bool {
        let file = SQLiteJournal.file(in: path)
        return file.withPlatformString { faccessat(AT_FDCWD, $0, R_OK, AT_EACCESS) } == 0 || errno != EACCES
    }

    /// Whether a daemon holds the folder and has no journal in it, but one that nodes share.
    private var isElsewhere: Bool {
        guard Folder.kind(of: SQLiteJournal.file(in: path), followingLinks: true) == nil, isHeldIfKnown == true
        else { return false }
        // That it does not answer is worth more than that there is no journal.
        do throws(JournalError) { return try DaemonJournal(of: path).tellingNode() != nil } catch { return true }
    }

    /// What is told to whom it is not open.
    var closed: JournalError {
        let owner = FileStatus.of(path, followingLinks: true)?.st_uid ?? 0
        let readers = (owner == 0 ? [] : [AccountName.user(owner)]) + ["root"]
        return JournalError(
            .missing,
            (isHeldIfKnown == false ? "No daemon is running with the state folder '\(path.text)', and only " : "Only ")
                + "\(readers.joined(separator: " and ")) may read the journal in '\(path.text)'; run this as "
                + "\(readers.joined(separator: " or ")).")
    }

    /// As `read`, with a journal that can be written to. One that is not there is not made. `byAnyone`: whether it is
    /// only noted what people want, which may be done beside the nodes that share it.
    func write<Result>(
        byAnyone: Bool = false, _ body: (any Journal) throws(JournalError) -> Result
    ) throws(ExitCode) -> Result {
        if !byAnyone { try refuseShared() }
        guard shared != nil || mayOpenJournal else {
            StandardError.print("error: \(closed.message)")
            throw ExitStatus.forbidden
        }
        do throws(JournalError) {
            let opened = try opening { () throws(JournalError) in
                // Who is no node writes no job, and needs no lease for the rest.
                try shared == nil ? store().openExisting() : store().openForReading()
            }
            defer { opened.close() }
            return try body(opened)
        } catch {
            throw report(error)
        }
    }

    /// Throws where nodes share the journal, for what only a node may do, and where none is asked.
    func refuseShared() throws(ExitCode) {
        guard shared != nil else { return }
        StandardError.print(
            "error: jobs in a shared journal are their nodes', and no daemon runs with the state folder '\(path.text)' "
                + "that could do this; run it where a node runs, or name its folder with --state-dir")
        throw ExitStatus.configuration
    }

    /// Whether a daemon holds it now.
    func isHeld() throws(JournalError) -> Bool {
        do throws(IOError) {
            return try probe()
        } catch {
            throw JournalError(.environment, "\(error); name the daemon's state folder with --state-dir")
        }
    }

    /// The same; nil if unknown, such as for another user's folder.
    var isHeldIfKnown: Bool? {
        do throws(IOError) {
            return try probe()
        } catch {
            return error.errno == .noSuchFileOrDirectory ? false : nil
        }
    }

    /// By its lock; by its socket for those who may reach that only.
    private func probe() throws(IOError) -> Bool {
        do throws(IOError) {
            return try FolderLock.isHeld(path)
        } catch {
            guard error.errno == .permissionDenied, let isListening = ControlClient.isListening(in: path) else {
                throw error
            }
            return isListening
        }
    }

    private func report(_ error: JournalError) -> ExitCode {
        if shared != nil { return error.printed }
        if let kind = Folder.kind(of: path, followingLinks: true), kind != .folder {
            StandardError.print("error: the state folder '\(path.text)' is no folder; name another with --state-dir")
            return ExitStatus.configuration
        }
        if path.withPlatformString({ access($0, X_OK) }) != 0, errno == EACCES {
            StandardError.print(
                "error: the state folder '\(path.text)' is not open to this user; run this as the daemon's user, as "
                    + "root, or as a member of its 'control_group'")
            return ExitStatus.forbidden
        }
        let isMended = error.kind == .missing && isHeldIfKnown == true
        StandardError.print(
            "error: "
                + (isMended
                    ? "The journal is missing from '\(path.text)' while a daemon runs with that folder. Name the "
                        + "one that nodes share with --journal or DROPMILL_JOURNAL; its own it restores in a minute."
                    : error.message))
        return error.status
    }
}

extension JournalError {
    var status: ExitCode {
        switch kind {
        // Nothing can be found.
        case .missing: ExitStatus.failure
        // Such as a disk that is full.
        case .environment: ExitStatus.busy
        case .newer, .corrupt: ExitStatus.configuration
        }
    }

    /// Prints it, and returns the exit status.
    var printed: ExitCode {
        StandardError.print("error: \(message)")
        return status
    }
}

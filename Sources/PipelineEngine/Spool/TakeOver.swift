import CLinux
import Files
import Glibc
import PipelineKit
import SystemPackage

/// Takes over a claimed drop, entry by entry and by descriptors, from the top down: a folder is ours before it is
/// listed, so that no one can replace what was examined.
struct TakeOver {
    enum Outcome: Equatable {
        case taken
        /// No permission for other users' files: it has to be copied.
        case denied
        /// It cannot be taken over; why.
        case refused(String)
    }

    private let user = Ownership.user
    private let group = getegid()
    private let limits: ReadyRule.Limits
    /// The drop's sender; nil before anything was taken over.
    private(set) var sender: Sender?
    private let noted: Sender?
    private let isStopped: () -> Bool
    private var entries = 0
    private var isAlone = true

    /// Takes nothing beyond the limits: its sender may keep enlarging it until it is ours.
    ///
    /// `noted`: who an attempt that was broken off found that the drop came from.
    /// `isStopped` is polled at each folder; if it returns true, the error is `canceled`.
    init(
        _ limits: ReadyRule.Limits = ReadyRule.Limits(), noted: Sender? = nil,
        isStopped: @escaping () -> Bool = { false }
    ) {
        self.limits = limits
        self.noted = noted
        self.isStopped = isStopped
    }

    /// The sender of a drop, and its permissions.
    struct Sender: Equatable {
        var user: uid_t
        var group: gid_t
        /// The permission bits of the drop itself.
        var mode: mode_t
        /// Whether all of it was the sender's: then all of it is given back.
        var isAlone = true
    }

    /// Takes an entry with all it holds. `note` is told who it is from before anything is changed: at first as if
    /// others had a part in it, and once more when all of it is ours, without what its sender said of it.
    mutating func take(
        _ name: FileName, in parent: borrowing OpenFile, note: (Sender) throws(IOError) -> Void
    ) throws(IOError) -> Outcome {
        let outcome = try take(name, in: parent, depth: 0, note)
        if outcome == .taken, var sender {
            sender.isAlone = isAlone
            try note(sender)
            self.sender = sender
        }
        return outcome
    }

    private mutating func take(
        _ name: FileName, in parent: borrowing OpenFile, depth: Int, _ note: (Sender) throws(IOError) -> Void
    ) throws(IOError) -> Outcome {
        guard depth <= limits.depth else { return .refused("it has folders more than \(limits.depth) deep") }
        let status: stat
        let opened: OpenFile
        do throws(IOError) {
            // As it was before it had to be changed to be opened.
            status = try Self.status(of: name, in: parent)
            if sender == nil, let noted, status.st_uid == user {
                // Which parts were the sender's is no longer known.
                sender = noted
                isAlone = false
            } else if sender == nil {
                let first = Sender(
                    user: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o777, isAlone: false)
                try note(first)
                sender = first
            }
            opened = try open(name, in: parent)
        } catch {
            switch error.errno {
            case .tooManySymbolicLinkLevels, .noSuchAddressOrDevice:
                return .refused("it holds a symbolic link or a socket, '\(name)'")
            case .permissionDenied, .notPermitted: return .denied
            default: throw error
            }
        }
        let now = try opened.status()
        let kind = FileKind(mode: now.st_mode)
        guard kind == .regular || kind == .folder else { return .refused("it holds a device or FIFO, '\(name)'") }
        guard now.st_ino == status.st_ino else { return .refused("'\(name)' was replaced while it was claimed") }
        if let refusal = Self.refusal(of: now, name, sender?.user ?? status.st_uid, user) { return refusal }
        if sender?.user != status.st_uid { isAlone = false }
        let own = depth == 0 ? Spool.senderAttribute : nil
        guard try close(opened, status, isFolder: kind == .folder, keeping: own) else { return .denied }
        guard kind == .folder else { return .taken }
        guard let names = try names(in: opened) else { return .refused("it holds more than \(limits.entries) entries") }
        for entry in names {
            let outcome = try take(entry, in: opened, depth: depth + 1, note)
            if outcome != .taken { return outcome }
        }
        return .taken
    }

    /// The names in a folder; nil if there are more than a drop may contain.
    private mutating func names(in folder: borrowing OpenFile) throws(IOError) -> [FileName]? {
        let most = limits.entries - entries
        var names: [FileName] = []
        do throws(IOError) {
            try Folder.forEachEntry(of: folder) { (name, _) throws(IOError) in
                guard names.count < most else { throw IOError("take over", folder.path, .outOfRange) }
                names.append(name)
            }
        } catch {
            guard error.errno == .outOfRange else { throw error }
            return nil
        }
        entries += names.count
        if isStopped() { throw IOError("take over", folder.path, .canceled) }
        return names
    }

    /// A file with another name belongs to whoever has that name as well. One of another user than the drop's may be
    /// anybody's: a link to it says nothing of a right to it.
    static func refusal(of status: stat, _ name: FileName, _ sender: uid_t, _ user: uid_t) -> Outcome? {
        guard FileKind(mode: status.st_mode) == .regular, status.st_nlink > 1, status.st_uid != user || sender != user
        else { return nil }
        return .refused("'\(name)' has another hard link and may belong to another user")
    }

    private static func status(of name: FileName, in parent: borrowing OpenFile) throws(IOError) -> stat {
        if let status = FileStatus.of(name, in: parent) { return status }
        throw IOError("examine", parent.path.appending(name), .last)
    }

    /// Opens a file or folder for reading, also one that lets us do so only once it is ours.
    private func open(_ name: FileName, in parent: borrowing OpenFile) throws(IOError) -> OpenFile {
        let flags = O_RDONLY | O_NONBLOCK
        do throws(IOError) {
            return try OpenFile.open(name, in: parent, flags)
        } catch {
            guard error.errno == .permissionDenied else { throw error }
        }
        let closed = try OpenFile.open(name, in: parent, OpenFile.pathOnly)
        let status = try closed.status()
        let isFolder = FileKind(mode: status.st_mode) == .folder
        guard isFolder || FileKind(mode: status.st_mode) == .regular && status.st_nlink == 1,
            fchownat(closed.descriptor, "", user, group, Self.emptyPath) == 0,
            chmod("/proc/self/fd/\(closed.descriptor)", status.st_mode & 0o755 | (isFolder ? 0o700 : 0o400)) == 0
        else { throw IOError("take over", closed.path, .permissionDenied) }
        return try OpenFile.open(name, in: parent, flags)
    }

    /// AT_EMPTY_PATH, which is not visible to Swift without _GNU_SOURCE.
    private static let emptyPath: Int32 = 0x1000

    /// Takes over one open entry and revokes others' write permission; false if not permitted. What its sender let
    /// others read stays readable for them; `keeping`: the attribute that is our own.
    private func close(
        _ opened: borrowing OpenFile, _ status: stat, isFolder: Bool, keeping attribute: String?
    ) throws(IOError) -> Bool {
        guard Ownership.isForeign(status) else { return true }
        let isForeign = status.st_uid != user
        if isForeign, fchown(opened.descriptor, user, group) != 0 {
            switch Errno.last {
            case .notPermitted, .invalidArgument, .permissionDenied: return false
            case let error: throw IOError("take over", opened.path, error)
            }
        }
        let mode = status.st_mode & 0o755 | (isFolder ? 0o700 : 0o400)
        guard fchmod(opened.descriptor, mode) == 0 else { throw IOError("take over", opened.path, .last) }
        if isForeign, dm_strip_attributes(opened.descriptor, attribute) != 0 {
            throw IOError("take over", opened.path, .last)
        }
        return true
    }
}

extension TakeOver.Sender {
    /// Its recorded form: `1000:1000:644`, with `:mixed` if other users own parts of it.
    var text: String { "\(user):\(group):\(String(mode, radix: 8))\(isAlone ? "" : ":mixed")" }

    /// Parses the recorded form; nil if it is not valid.
    init?(_ text: String) {
        let parts = text.split(separator: ":")
        guard parts.count >= 3, let user = uid_t(parts[0]), let group = gid_t(parts[1]),
            let mode = mode_t(parts[2], radix: 8)
        else { return nil }
        self.init(user: user, group: group, mode: mode & 0o777, isAlone: parts.count == 3)
    }
}

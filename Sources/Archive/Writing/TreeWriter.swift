import CLinux
import Glibc
import SystemPackage

/// Writes entries below one folder: nothing lands elsewhere, whatever the archive says.
///
/// Paths are walked without following links, files are created again, and symbolic links come last, so nothing is ever
/// written through one. An entry that is not harmless fails the archive as a whole. Used on one thread; several may
/// write below one folder.
struct TreeWriter: ~Copyable {
    let root: Int32
    let policy: UnpackPolicy
    let budget: Budget
    let now: timespec
    var cursor: FolderCursor
    /// What is done when all files are there.
    var deferred = Deferred()
    /// Whether an entry takes the place of an earlier one of its name; and, where that is so, when each name came last.
    var replaces = false
    private(set) var turns: [[UInt8]: Int] = [:]
    private let names: NameRegister?
    /// The way to this folder in what all names are told apart in.
    private let above: [UInt8]

    /// What can only be done at the end: links, since nothing may be written through one, and the times of folders,
    /// which change as files are put into them.
    struct Deferred {
        var links: [(path: [UInt8], target: [UInt8], turn: Int)] = []
        var folders: [(path: [UInt8], modified: timespec)] = []
        /// Files that turned out to be archives.
        var archives: [(path: [UInt8], format: ArchiveFormat, turn: Int)] = []
        var skippedLinks: Int64 = 0

        /// Adds what another thread has.
        mutating func add(_ other: Deferred) {
            links += other.links
            folders += other.folders
            archives += other.archives
            skippedLinks += other.skippedLinks
        }
    }

    /// A writer to a folder, whose descriptor must stay open. `names`: where names are told apart that are one for some
    /// file systems, and the folder's own way there.
    init(
        root: Int32, _ policy: UnpackPolicy, _ budget: Budget, names: NameRegister? = nil, above: [UInt8] = []
    ) {
        self.root = root
        self.names = names
        self.above = above
        self.policy = policy
        self.budget = budget
        now = FileTimes.now()
        cursor = FolderCursor(root: root, mode: Self.folderMode(policy), budget)
    }

    /// The mode of folders: their owner can always work in them.
    private static func folderMode(_ policy: UnpackPolicy) -> mode_t { 0o755 & mode_t(policy.mode) | 0o700 }

    /// The mode of files; those that may be run keep that if wanted. Their owner can always read them.
    func fileMode(_ stored: mode_t) -> mode_t {
        let usual: mode_t = policy.keepsExecutable && stored & 0o111 != 0 ? 0o755 : 0o644
        return usual & mode_t(policy.mode) | 0o400
    }

    /// Checks a name, and where wanted that no other spelling of it was there; links that are left out have none.
    func check(_ stored: [UInt8], isLink: Bool = false) throws(ArchiveError) -> EntryPath {
        let path = try EntryPath(stored, policy.limits)
        if let names, !isLink || policy.links != .skip { try names.add(path, below: above) }
        return path
    }

    /// Makes a folder, or finds it there: archives list folders again.
    mutating func makeFolder(_ path: EntryPath, modified: timespec?) throws(ArchiveError) {
        if !path.isTop {
            let parent = try cursor.enter(path.folder, for: path.stored)
            let mode = Self.folderMode(policy)
            if path.withName({ mkdirat(parent, $0, mode) }) != 0 {
                let error = Errno(rawValue: errno)
                guard error == .fileExists else {
                    throw .system(action: "create the folder", entry: path.stored, errno: error)
                }
                guard kind(of: path, in: parent) == S_IFDIR else {
                    throw .conflict(path.stored, "is a file and a folder at once")
                }
            }
        }
        if let modified { deferred.folders.append((path.bytes, FileTimes.clamp(modified, to: now))) }
    }

    mutating func createFile(_ path: EntryPath, mode: mode_t) throws(ArchiveError) -> OutputFile {
        guard !path.isTop else { throw .conflict(path.stored, "is a file in place of the top folder") }
        try refusePrivileges(mode, path)
        let folder = try cursor.enter(path.folder, for: path.stored)
        replace(path, in: folder)
        return try OutputFile.create(path, in: folder, mode: fileMode(mode), budget, isSyncedSoon: policy.isSyncedSoon)
    }

    /// Makes room for an entry whose name was there, where the last one counts. What cannot be removed, a folder, shows
    /// when the entry is made.
    mutating func replace(_ path: EntryPath, in folder: Int32) {
        guard replaces else { return }
        turns[path.bytes, default: 0] += 1
        _ = path.withName { unlinkat(folder, $0, 0) }
    }

    /// Whether what was put off for the end is what counts of its name.
    func isLast(_ path: [UInt8], _ turn: Int) -> Bool { turns[path].map { $0 == turn } ?? true }

    /// Nothing that is unpacked may run with rights that are not those of whoever runs it.
    func refusePrivileges(_ mode: mode_t, _ path: EntryPath) throws(ArchiveError) {
        guard mode & 0o7000 == 0 else {
            throw .unsafe(
                path.stored, "has the set-user-id, set-group-id or sticky bit, which would give it special rights")
        }
    }

    /// The type of what is there (S_IFMT); nil for nothing.
    func kind(of path: EntryPath, in folder: Int32) -> mode_t? {
        var status = stat()
        return path.withName { dm_status_beneath(folder, $0, &status) } == 0 ? status.st_mode & S_IFMT : nil
    }

    /// Notes a file that begins like an archive, if those are unpacked too.
    mutating func noteArchive(_ path: EntryPath, head: UnsafeRawBufferPointer) {
        guard policy.nested > 0, let format = ArchiveFormat.of(head: head), policy.formats.contains(format) else {
            return
        }
        let sniff = ArchiveSniff(format: format, head: head)
        if !policy.takesDocuments, Documents.contains(path.bytes, sniff) { return }
        deferred.archives.append((path.bytes, format, turns[path.bytes] ?? 0))
    }

    /// Gives the top folder its mode: as far as it has it, since the umask is in that already.
    static func openTop(_ root: Int32, _ policy: UnpackPolicy) throws(ArchiveError) {
        var status = stat()
        guard fstat(root, &status) == 0 else {
            throw .system(action: "create the folder", entry: nil, errno: Errno(rawValue: errno))
        }
        let mode = status.st_mode & folderMode(policy) | 0o700
        guard mode == status.st_mode & 0o7777 || fchmod(root, mode) == 0 else {
            throw .system(action: "set the mode of", entry: nil, errno: Errno(rawValue: errno))
        }
    }

    /// Makes the links, when all files are there.
    mutating func makeLinks() throws(ArchiveError) {
        for link in deferred.links where isLast(link.path, link.turn) {
            try budget.checkStopped()
            try makeLink(EntryPath(link.path, policy.limits), to: link.target)
        }
    }

    /// Gives the folders their times, when nothing more is put into them.
    mutating func setFolderTimes() throws(ArchiveError) {
        for folder in deferred.folders {
            try budget.checkStopped()
            var descriptor = root
            if !folder.path.isEmpty {
                let path = try EntryPath(folder.path, policy.limits)
                descriptor = try cursor.enter(path.whole, for: path.stored)
            }
            guard futimens(descriptor, FileTimes.pair(folder.modified)) == 0 else {
                throw .system(action: "set the time of", entry: folder.path, errno: Errno(rawValue: errno))
            }
        }
    }
}

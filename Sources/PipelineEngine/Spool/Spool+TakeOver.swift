import CLinux
import Files
import FolderWatch
import Glibc
import PipelineKit
import SystemPackage

extension Spool {
    /// Where the sender of a drop that was taken over is recorded: in an attribute of the drop, which costs no inode
    /// (ext4 takes long to find a free one after many were freed), else as the target of a symbolic link beside it.
    static let senderAttribute = "user.dropmill.sender"
    static let senderNote: FilePath = ".sender"

    /// Drops up to this size are copied at once, if they have to be copied.
    static let smallCopy: Int64 = 1 << 20

    private static let copies: FilePath = ".private"

    /// Secures a complete drop against its sender: it becomes ours, and no other name reaches it.
    func secure(_ job: Job, _ look: Look, _ state: Fingerprint) throws(IOError) -> Proof {
        if pipeline.ownership == .take, pipeline.ready.markerBeside != nil, let proof = try takeMarker(of: job, state) {
            return proof
        }
        if pipeline.ownership == .take, look.isForeign {
            let folder = try Folder.open(job.folder)
            let breaksOff = breaksOff
            var taking = TakeOver(pipeline.ready.limits, noted: try Self.sender(of: job)) { breaksOff(.now()) }
            switch try taking.take(
                job.drop.name, in: folder.file,
                note: { (sender) throws(IOError) in
                    try Self.note(sender, of: job)
                })
            {
            case .taken: return try proveTaken(job, state)
            case .refused(let reason): return try reject(job, state, .unfit(job.drop.name, reason))
            case .denied: return state.size > Self.smallCopy || job.drop.isFolder ? .copying : try takeCopy(of: job)
            }
        }
        guard try makePrivate(look.linked, in: job, state) else {
            return .stillWritten("it changed through another hard link while it was copied")
        }
        return try complete(job, state)
    }

    /// Examines a drop again after it was taken over: now a lease reports every descriptor and mapping of it.
    private func proveTaken(_ job: Job, _ before: Fingerprint) throws(IOError) -> Proof {
        let look = try look(at: job, asksAlways: true)
        guard case .file(let state, let writers) = look.sample else {
            return .stillWritten("it was replaced by something that is not a drop")
        }
        if case .some(let writer) = writers {
            // Writers that are not waited for can keep writing to what they have open: a copy is out of their reach.
            return pipeline.ready.writers == .wait ? .stillWritten(Waiting.heldOpen(writer).text) : .copying
        }
        guard state.size == before.size, state.modified == before.modified else {
            return .stillWritten("it changed while it was taken over")
        }
        guard try makePrivate(look.linked, in: job, state) else {
            return .stillWritten("it changed through another hard link while it was copied")
        }
        return try complete(job, state)
    }

    /// A marker may specify its drop, and goes where its drop goes.
    /// Returns what follows for its drop; nil if the marker is fine.
    private func takeMarker(of job: Job, _ state: Fingerprint) throws(IOError) -> Proof? {
        guard let marker = try Self.marker(in: job.folder) else { return nil }
        let folder = try Folder.holding(marker)
        guard let name = marker.lastName, let copyName = Self.copies.lastName,
            let status = try folder.status(of: marker.lastEntry), Ownership.isForeign(status)
        else { return nil }
        var taking = TakeOver()
        switch try taking.take(name, in: folder.file, note: { _ in }) {
        case .taken:
            let opened = try folder.open(marker.lastEntry, O_RDONLY | O_NONBLOCK)
            let identity = FileIdentity(try opened.status())
            guard case .some(let writer) = sight.writers(of: opened.descriptor, identity) else { return nil }
            return .stillWritten("its marker: \(Waiting.heldOpen(writer).text)")
        case .refused(let reason): return try reject(job, state, .unfit(job.drop.name, "its marker: \(reason)"))
        case .denied: break
        }
        let job = try Folder.open(job.folder)
        try job.remove(Self.copies)
        try Transfer.copyFile(marker.lastEntry, in: folder, to: Self.copies, in: job, sharing: false)
        _ = try taking.take(copyName, in: job.file) { _ in }
        try job.rename(Self.copies, over: FilePath(Self.markerFolder.string).appending(name))
        return nil
    }

    private func reject(_ job: Job, _ state: Fingerprint, _ failure: Failure) throws(IOError) -> Proof {
        try Rejection.write(failure, in: job.folder)
        return .complete(Claimed(job: job, identity: state.identity, modified: state.modified, failure: failure))
    }

    // MARK: Copying

    /// Replaces a drop that cannot be taken over with a copy of ours, and removes the drop once
    /// the copy is on disk. `isStopped` is polled.
    func takeCopy(of job: Job, isStopped: () -> Bool = { false }) throws(IOError) -> Proof {
        let before = try look(at: job).sample
        guard case .file(let state, let writers) = before, !writers.areKnown else {
            return .stillWritten("it changed while it was claimed")
        }
        let job = job.with(from: job.producer ?? Self.producer(of: job))
        let folder = try Folder.open(job.folder)
        let drop = FilePath().appending(job.drop.name)
        try folder.makeClean(Self.copies, mode: 0o700)
        let copy = Self.copies.appending(job.drop.name)
        do throws(IOError) {
            if let reason = try hindrance(to: drop, in: folder) {
                return try reject(job, state, .notTaken(job.drop.name, reason))
            }
            try Transfer.copy(drop, in: folder, to: copy, in: folder, isStopped: isStopped)
        } catch {
            try folder.remove(Self.copies)
            guard error.errno == .permissionDenied else { throw error }
            return try reject(job, state, .notTaken(job.drop.name, "\(error)"))
        }
        guard case .file(state, let writers) = try look(at: job).sample, !writers.areKnown else {
            try folder.remove(Self.copies)
            return .stillWritten("it changed while it was copied")
        }
        var taking = TakeOver()
        let outcome = try taking.take(job.drop.name, in: try folder.folder(Self.copies).file) { _ in }
        guard outcome == .taken else { return .stillWritten("it was replaced while it was copied") }
        try diskSync.sync(files: try DiskSync.everything(in: job.folder.pushing(copy)), by: work.whole)
        guard try replace(drop, by: copy, in: folder) else {
            try folder.remove(Self.copies)
            let reason = "its file system cannot exchange two folders"
            return try reject(job, state, .notTaken(job.drop.name, reason))
        }
        try diskSync.sync(folders: [job.folder], by: work.whole)
        do throws(IOError) {
            try folder.remove(Self.copies)
        } catch {
            // Its sender has closed a folder meanwhile. The rest belongs to the sender, and does no harm there.
            try work.setAside(Self.copies, of: job)
        }
        guard case .file(let now, _) = try look(at: job).sample else { return .stillWritten("it is gone") }
        return try complete(job, now)
    }

    /// Why a drop can be neither taken over nor copied; nil for one that can.
    private func hindrance(to drop: FilePath, in folder: borrowing Folder) throws(IOError) -> String? {
        guard try folder.kind(of: drop) == .folder else {
            return try Self.hasOtherOwner(drop, in: folder) ? Self.linked : nil
        }
        let tree = try FileTree.list(try folder.folder(drop))
        let limits = pipeline.ready.limits
        guard tree.files.count + tree.folders.count <= limits.entries,
            tree.folders.allSatisfy({ $0.components.count <= limits.depth })
        else { return "it grew beyond `ready.max_entries` or `ready.max_depth`" }
        if let link = tree.links.first { return "it holds a symbolic link, '\(link.text)'" }
        if let special = tree.specials.first { return "it holds a device, FIFO or socket, '\(special.text)'" }
        for file in tree.files where try Self.hasOtherOwner(drop.pushing(file.relative), in: folder) {
            return Self.linked
        }
        // The original is removed after the copy, which takes write permission on its folders.
        for path in [FilePath()] + tree.folders {
            let opened = try folder.open(drop.pushing(path), O_RDONLY | O_DIRECTORY)
            guard faccessat(opened.descriptor, ".", W_OK | X_OK, 0) != 0 else { continue }
            return "Dropmill's user cannot write to its folder '\(opened.path.text)'"
        }
        return nil
    }

    private static let linked = "it has another hard link and belongs to another user"

    private static func hasOtherOwner(_ file: FilePath, in folder: borrowing Folder) throws(IOError) -> Bool {
        guard let status = try folder.status(of: file) else { return false }
        return status.st_nlink > 1 && status.st_uid != geteuid()
    }

    /// False where the file system cannot exchange folders.
    private func replace(_ drop: FilePath, by copy: FilePath, in folder: borrowing Folder) throws(IOError) -> Bool {
        guard try folder.kind(of: drop) == .folder else {
            try folder.rename(copy, over: drop)
            return true
        }
        // Atomically: a job's folder without its drop would count as finished.
        let descriptor = folder.file.descriptor
        let exchanged = drop.withPlatformString { old in
            copy.withPlatformString { dm_rename_exchange(descriptor, $0, descriptor, old) }
        }
        if exchanged == 0 { return true }
        guard [.invalidArgument, .noFunction].contains(Errno.last) else {
            throw IOError("replace", folder.path.pushing(drop), .last)
        }
        return false
    }

    /// Replaces files that have other names with copies; false if the drop changed meanwhile, so that they
    /// may be torn.
    private func makePrivate(_ files: [FilePath], in job: Job, _ before: Fingerprint) throws(IOError) -> Bool {
        guard !files.isEmpty else { return true }
        let folder = try Folder.open(job.folder)
        try folder.makeClean(Self.copies, mode: 0o700)
        var names: [(file: FilePath, copy: FilePath)] = []
        for (index, file) in files.enumerated() {
            var relative = file
            guard relative.removePrefix(job.folder) else { continue }
            names.append((relative, Self.copies.appending("\(index)")))
        }
        for (file, copy) in names { try Transfer.copyFile(file, in: folder, to: copy, in: folder) }
        let after = try look(at: job).sample
        guard case .file(let fingerprint, let writers) = after, fingerprint == before, !writers.areKnown else {
            try folder.remove(Self.copies)
            return false
        }
        for (file, copy) in names { try folder.rename(copy, over: file) }
        try folder.remove(Self.copies)
        return true
    }

    // MARK: Giving back

    static func note(_ sender: TakeOver.Sender, of job: Job) throws(IOError) {
        let noted = job.original.withPlatformString { dm_set_attribute($0, senderAttribute, sender.text) }
        if noted == 0 { return }
        let folder = try Folder.open(job.folder)
        try folder.remove(senderNote)
        try folder.makeLink(senderNote, to: FilePath(sender.text))
    }

    /// Copies the sender's record to a copy of the job's folder.
    static func copySender(from folder: FilePath, to copy: FilePath, _ drop: FileName) throws(IOError) {
        var text = [CChar](repeating: 0, count: 64)
        let count = folder.appending(drop).withPlatformString {
            dm_get_attribute($0, senderAttribute, &text, text.count)
        }
        guard count > 0 else { return }
        let sender = String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let noted = copy.appending(drop).withPlatformString { dm_set_attribute($0, senderAttribute, sender) }
        if noted != 0 { try Folder.open(copy).makeLink(senderNote, to: FilePath(sender)) }
    }

    /// The sender of a drop that was taken over.
    static func sender(of job: Job) throws(IOError) -> TakeOver.Sender? {
        // The link first: if it exists, the attribute may have been set by the sender.
        if let text = try Folder.open(job.folder).target(ofLink: senderNote) { return TakeOver.Sender(text.string) }
        var text = [CChar](repeating: 0, count: 64)
        let count = job.original.withPlatformString { dm_get_attribute($0, senderAttribute, &text, text.count) }
        guard count > 0 else { return nil }
        return TakeOver.Sender(String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// Gives a failed drop back to its sender, who must be able to fetch it, as far as permissions allow. From
    /// the bottom up: a folder is ours until all its contents are given away, so that no one adds to it. Only once:
    /// afterwards it belongs to the sender.
    func giveBack(_ job: Job) throws(IOError) {
        guard var sender = try Self.sender(of: job) else { return }
        let folder = try Folder.open(job.folder)
        let drop = FilePath().appending(job.drop.name)
        guard let status = try folder.status(of: drop), status.st_uid == geteuid() else { return }
        if sender.isAlone {
            // If this is interrupted, the sender could put another user's file where the next attempt gives it away.
            sender.isAlone = false
            try Self.note(sender, of: job)
            try Self.giveContent(of: drop, in: folder, to: sender)
        }
        _ = job.original.withPlatformString { dm_remove_attribute($0, Self.senderAttribute) }
        try Self.give(try folder.open(drop, O_RDONLY | O_NONBLOCK), to: sender, mode: sender.mode)
        try folder.remove(Self.senderNote)
    }

    /// The same for its copy in `failed`, where that is on another mount: until it is copied the drop stays ours, so
    /// that its sender has no part in it.
    static func giveBack(_ copy: FilePath, of job: Job, in folder: borrowing Folder) throws(IOError) {
        guard let sender = try sender(of: job) else { return }
        if sender.isAlone { try giveContent(of: copy, in: folder, to: sender) }
        try give(try folder.open(copy, O_RDONLY | O_NONBLOCK), to: sender, mode: sender.mode)
    }

    /// Whether failed drops are copied to `failed`.
    var failsElsewhere: Bool {
        let (own, other) = (
            work.path.withPlatformString { dm_mount_id($0) }, pipeline.failed.withPlatformString { dm_mount_id($0) }
        )
        return other >= 0 && own != other
    }

    /// From the bottom up: a folder is ours until all its contents are given away.
    private static func giveContent(
        of drop: FilePath, in folder: borrowing Folder, to sender: TakeOver.Sender
    ) throws(IOError) {
        guard try folder.kind(of: drop) == .folder else { return }
        let tree = try FileTree.list(try folder.folder(drop))
        for path in tree.files.map(\.relative) + tree.folders.reversed() {
            try give(try folder.open(drop.pushing(path), O_RDONLY | O_NONBLOCK), to: sender, mode: nil)
        }
    }

    private static func give(
        _ opened: borrowing OpenFile, to sender: TakeOver.Sender, mode: mode_t?
    ) throws(IOError) {
        let status = try opened.status()
        // Only our own files, and none with another user's hard link.
        guard status.st_uid == geteuid(), FileKind(mode: status.st_mode) == .folder || status.st_nlink == 1 else {
            return
        }
        // The mode first: afterwards it can no longer be changed.
        if let mode, fchmod(opened.descriptor, mode) != 0 { throw IOError("set the mode of", opened.path, .last) }
        guard fchown(opened.descriptor, sender.user, sender.group) != 0 else { return }
        switch Errno.last {
        // A user who may not take over files may not give them away either; then this is a copy, readable as before.
        case .notPermitted, .invalidArgument: return
        case let error: throw IOError("give back", opened.path, error)
        }
    }
}

extension Failure {
    /// A drop that could not be taken over, although the pipeline requires it.
    static func notTaken(_ name: FileName, _ reason: String) -> Failure {
        .file(
            "claim.ownership", "'\(name)' cannot be taken over from its sender: \(reason).",
            remedy: "Give Dropmill's user read access to it and write access to its folders (group, default ACL), give "
                + "that user CAP_CHOWN, or set `ownership: keep`; then send it again.")
    }
}

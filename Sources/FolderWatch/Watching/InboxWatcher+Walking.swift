import Files
import Platform
import SystemPackage

/// The walk through an inbox's folders.
extension InboxWatcher {
    /// Changes per batch.
    private static let part = 4096

    /// Watches and lists a folder and all in it that are looked into. Each is watched before it is listed, so that what
    /// appears in it meanwhile is heard or found.
    func walk(_ inbox: OpenInbox, from start: InboxFolder) throws(IOError) {
        let mount = inbox.top.file.mount
        var pending = [start]
        while let folder = pending.popLast() {
            guard folder.depth <= deepest else {
                refuse(folder, "it is more than \(deepest) folders deep in the inbox; raise `ready.max_depth`")
                continue
            }
            guard folder.bytes.count <= InboxFolder.longest else {
                refuse(folder, "its path is too long; files that deep are not taken")
                continue
            }
            guard let opened = try open(folder, in: inbox) else { continue }
            guard folder.isTop || opened.file.mount == mount else {
                refuse(folder, "another file system is mounted there; give it a pipeline of its own")
                continue
            }
            // It can be searched now.
            if refused.remove(folder) != nil, let path = folder.path { report(.vanished(path)) }
            watch(opened)
            do throws(IOError) {
                try list(opened, &pending)
            } catch {
                guard !folder.isTop, error.errno.trouble(with: .drop) != .pauses else { throw error }
                refuse(folder, "it cannot be listed: \(error.errno)")
            }
        }
    }

    private func open(_ folder: InboxFolder, in inbox: OpenInbox) throws(IOError) -> OpenInbox.Opened? {
        do throws(IOError) {
            return try inbox.open(folder)
        } catch {
            if error.isUnreachable {
                // Gone since it was heard of.
                forget(folder)
            } else if error.errno == .permissionDenied {
                refuse(
                    folder, "it cannot be searched (\(error.errno)); give Dropmill's user the right to")
            } else {
                guard error.errno.trouble(with: .drop) != .pauses else { throw error }
                refuse(folder, "it cannot be searched: \(error.errno)")
            }
            return nil
        }
    }

    private func watch(_ opened: OpenInbox.Opened) {
        guard watches != nil, blindness == nil else { return }
        do throws(IOError) {
            try watches?.add(opened)
        } catch {
            blindness =
                switch error.errno {
                case .noSpace: "the limit of inotify watches is reached; raise fs.inotify.max_user_watches (see sysctl)"
                case .fileExists:
                    "'\(opened.file.path.text)' is also in another pipeline's inbox, by a bind mount; a "
                        + "folder can be in only one inbox"
                default: "\(error)"
                }
        }
    }

    private func list(_ opened: OpenInbox.Opened, _ pending: inout [InboxFolder]) throws(IOError) {
        let folder = opened.folder
        var inside: [InboxFolder] = []
        var passed: [FileName] = []
        let gone = try listing.list(folder) { (seen) throws(IOError) in
            try Folder.forEachEntry(of: opened.file) { (name, kind) throws(IOError) in
                if isFolder(name, kind, opened), selection.enters(name, folder) {
                    seen.sawFolder(name)
                    inside.append(folder.appending(name))
                } else if selection.takes(name) {
                    if seen.saw(name) { report(.appeared(DropPath(name, in: folder))) }
                } else if passed.count <= UntakenNames.most, selection.passes(name) {
                    passed.append(name)
                }
            }
        }
        untaken.listed(folder, passed, at: .now())
        for name in gone.names { report(.vanished(DropPath(name, in: folder))) }
        for name in gone.folders { forget(folder.appending(name)) }
        pending += inside
    }

    private func isFolder(_ name: FileName, _ kind: FileKind, _ above: OpenInbox.Opened) -> Bool {
        guard selection.depth > 1, kind == .unknown else { return kind == .folder }
        return FileStatus.of(name, in: above.file).map { FileKind(mode: $0.st_mode) } == .folder
    }

    private func refuse(_ folder: InboxFolder, _ reason: String) {
        guard let path = folder.path else { return }
        refused.insert(folder)
        listener.refused(path, reason)
    }

    func forget(_ folder: InboxFolder) {
        let gone = listing.forget(folder)
        for path in gone.names { report(.vanished(path)) }
        for inside in gone.folders {
            watches?.end(inside)
            untaken.forget(inside)
            let wasRefused = refused.remove(inside) != nil
            if wasRefused || inside == folder, let path = inside.path { report(.vanished(path)) }
        }
    }

    /// Queues a change; a full batch is sent at once.
    func report(_ change: InboxChange) {
        unreported.append(change)
        if unreported.count >= Self.part { notify() }
    }

    func notify() {
        guard !unreported.isEmpty else { return }
        let changes = unreported
        unreported = []
        listener.changed(changes)
    }
}

import Glibc
import SystemPackage

/// Writes an archive's entries below one folder: nothing lands elsewhere, whatever the archive says.
///
/// Names are walked component by component without following links, files are made anew, and symbolic links come last,
/// so nothing is ever written through one. An entry that is not harmless fails the archive as a whole.
package struct ArchiveExtractor: ~Copyable {
    /// What has been done since the last call: bytes written, entries begun. What it throws ends the work.
    package typealias Progress = (_ bytes: Int64, _ entries: Int64) throws(ArchiveError) -> Void

    private let root: Int32
    private let limits: ExtractionLimits
    var cursor: FolderCursor
    /// The attributes of folders are set at the end: working in a folder changes its time. Names are kept as they were
    /// stored, which takes a fifth of what they are when they are taken apart.
    private var folders: [(path: [UInt8], mode: mode_t, modified: timespec?)] = []
    private var links: [(path: [UInt8], target: [UInt8], modified: timespec?)] = []
    private var nameBytes = 0

    /// An extractor to an empty folder, whose descriptor must stay open.
    package init(root: Int32, limits: ExtractionLimits = ExtractionLimits()) {
        self.root = root
        self.limits = limits
        cursor = FolderCursor(root: root)
    }

    /// Extracts everything. On an error what was extracted so far stays: the folder is to be thrown away.
    package consuming func extract(
        _ reader: consuming ArchiveReader, progress: Progress
    ) throws(ArchiveError) {
        try openUpRoot()
        while let entry = try reader.next() {
            try progress(0, 1)
            guard !entry.isEncrypted else { throw .encrypted(entry.path) }
            try place(entry, reader, progress)
        }
        for link in links {
            try progress(0, 0)
            try makeLink(try EntryPath(link.path), to: link.target, modified: link.modified)
        }
        for folder in folders {
            try progress(0, 0)
            let descriptor = try cursor.enter(try EntryPath(folder.path).components, for: folder.path)
            try FileAttributes.set(
                on: descriptor, mode: folder.mode, modified: folder.modified, isFolder: true, entry: folder.path)
        }
    }

    private mutating func place(
        _ entry: ArchiveEntry, _ reader: borrowing ArchiveReader, _ progress: Progress
    ) throws(ArchiveError) {
        let path = try EntryPath(entry.path)
        switch entry.kind {
        case .folder: try makeFolder(path, entry)
        case .file: try writeFile(path, entry, reader, progress)
        case .symbolicLink(let target):
            try path.checkLinkTarget(target)
            guard path.name != nil else {
                throw .conflict(entry.path, "is a symbolic link in the place of the top folder")
            }
            try remember(links.count, atMost: limits.links, "links", entry.path.count + target.count)
            links.append((entry.path, target, entry.modified))
        case .hardLink(let target):
            try makeHardLink(path, to: target, entry)
            // In some formats the data comes with the last name.
            if let size = entry.size, size > 0 { try writeFile(path, entry, reader, progress, exists: true) }
        case .special(let word): throw .unsafe(entry.path, "is \(word); only files, folders and links are taken")
        }
    }

    private mutating func makeFolder(_ path: EntryPath, _ entry: ArchiveEntry) throws(ArchiveError) {
        if let name = path.name {
            let parent = try cursor.enter(path.folders, for: entry.path)
            if mkdirat(parent, name, 0o777) != 0 {
                let error = Errno(rawValue: errno)
                guard error == .fileExists else {
                    throw .system(action: "create the folder", entry: entry.path, errno: error)
                }
                var status = stat()
                guard fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFDIR
                else {
                    throw .conflict(entry.path, "is a file and a folder at once")
                }
            }
        }
        try remember(folders.count, atMost: limits.folders, "folders", entry.path.count)
        folders.append((entry.path, entry.mode, entry.modified))
    }

    /// Makes sure that one more link or folder can be kept until the end.
    private mutating func remember(
        _ count: Int, atMost most: Int, _ what: String, _ bytes: Int
    ) throws(ArchiveError) {
        guard count < most else { throw .tooMany("holds more than \(most) \(what), the most that are handled") }
        nameBytes += bytes
        guard nameBytes <= limits.nameBytes else {
            throw .tooMany(
                "holds links and folders whose names take more than \(limits.nameBytes) bytes, the most "
                    + "that are handled")
        }
    }

    private mutating func writeFile(
        _ path: EntryPath, _ entry: ArchiveEntry, _ reader: borrowing ArchiveReader, _ progress: Progress,
        exists: Bool = false
    ) throws(ArchiveError) {
        guard let name = path.name else { throw .conflict(entry.path, "is a file in the place of the top folder") }
        guard entry.mode & 0o7000 == 0 else {
            throw .unsafe(
                entry.path, "has the set-user-id, set-group-id or sticky bit, which would give it rights of its own")
        }
        let folder = try cursor.enter(path.folders, for: entry.path)
        var file =
            exists
            ? try OutputFile.reopen(name, in: folder, for: entry.path)
            : try OutputFile.create(name, in: folder, for: entry.path)
        var length: Int64 = 0
        reading: while true {
            switch try reader.nextBlock() {
            case .data(let block, let offset):
                try file.write(block, at: offset)
                length = max(length, offset + Int64(block.count))
                try progress(Int64(block.count), 0)
            case .end(let offset):
                length = max(length, offset)
                break reading
            }
        }
        if let size = entry.size, size != length {
            throw .damaged(entry.path, "has \(length) bytes, but should have \(size)")
        }
        try file.finish(length: length, mode: entry.mode, modified: entry.modified)
    }

    /// The folder that is extracted to may be its owner's alone so far; what it becomes gets the mode that any new
    /// folder gets here, which making one tells.
    private func openUpRoot() throws(ArchiveError) {
        let probe = ".mode"
        var status = stat()
        guard mkdirat(root, probe, 0o777) == 0, fstatat(root, probe, &status, AT_SYMLINK_NOFOLLOW) == 0,
            unlinkat(root, probe, AT_REMOVEDIR) == 0, fchmod(root, status.st_mode & 0o777 | 0o700) == 0
        else { throw .system(action: "create the folder", entry: nil, errno: Errno(rawValue: errno)) }
    }
}

import Archive
import Files
import Glibc
import Journal
import SystemPackage

/// A month's file of an archive, open to be written behind what is noted of it.
struct ArchiveFile: ~Copyable {
    private let folder: Folder
    private let file: OpenFile
    private let name: FileName
    /// With nothing under way.
    let note: ArchiveNote

    /// The one that was noted, where it is this month's, in that folder and as it was left; else a new one.
    static func open(in path: FilePath, month: String, _ noted: ArchiveNote?) throws(IOError) -> ArchiveFile {
        // The folder itself may be a link.
        let folder = try Folder(OpenFile.open(path.appending("."), O_RDONLY | O_DIRECTORY))
        let number = UInt64(try folder.file.status().st_ino)
        let stem = "dropmill-\(month)"
        if let noted, noted.path.removingLastComponent() == path {
            if let name = noted.path.lastName, name.text.hasPrefix(stem),
                let file = try existing(name, in: folder, inode: noted.inode, length: noted.length)
            {
                return ArchiveFile(folder: folder, file: file, name: name, note: noted)
            }
            guard number == noted.folder else { throw IOError(Self.finding, path, .staleNFSFileHandle) }
        }
        // A name is used once, also where its file was moved away: beside others' it would take their place. What has a
        // name that is taken may be another daemon's.
        let last = noted?.path.lastName.flatMap { Self.number(of: $0.text, stem) } ?? 0
        for attempt in (last + 1)...(last + 1000) {
            let text = stem + (attempt == 1 ? "" : ".\(attempt)") + ".jsonl.zst"
            guard let name = FileName(text), FileStatus.of(name, in: folder.file) == nil else { continue }
            let file: OpenFile
            do throws(IOError) {
                file = try OpenFile.open(name, in: folder.file, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            } catch {
                guard error.errno == .fileExists else { throw error }
                continue
            }
            try folder.file.sync()
            let inode = UInt64(try file.status().st_ino)
            let note = ArchiveNote(path.appending(name), folder: number, inode: inode, length: 0)
            return ArchiveFile(folder: folder, file: file, name: name, note: note)
        }
        throw IOError("find a free name in", path, .fileExists)
    }

    /// The number of a month's file by its name; nil where it is another month's.
    private static func number(of name: String, _ stem: String) -> Int? {
        guard name.hasPrefix(stem + ".") else { return nil }
        let rest = name.dropFirst(stem.count + 1).split(separator: ".")
        return rest.count == 3 ? Int(rest[0]).flatMap { (2...999_999).contains($0) ? $0 : nil } : 1
    }

    /// The action of the error where another folder is in the place of the archive's.
    private static let finding = "find the archive's file in"

    /// Cuts the file back to its noted length, after a write that a crash interrupted. Does nothing where the file has
    /// been moved away or replaced.
    static func settle(_ noted: ArchiveNote) throws(IOError) {
        guard let name = noted.path.lastName else { return }
        do throws(IOError) {
            let folder = try Folder(OpenFile.open(noted.path.removingLastComponent().appending("."), O_RDONLY))
            if let file = try existing(name, in: folder, inode: noted.inode, length: nil),
                try file.status().st_size > noted.length
            {
                try cut(file, noted.length)
                try file.sync()
            }
        } catch {
            guard [.noSuchFileOrDirectory, .notDirectory].contains(error.errno) else { throw error }
        }
    }

    /// The file of that name, if it is that inode, has that length and no second name; nil where it is another.
    private static func existing(
        _ name: FileName, in folder: borrowing Folder, inode: UInt64, length: Int64?
    ) throws(IOError) -> OpenFile? {
        func isThat(_ status: stat) -> Bool {
            status.st_ino == inode && FileKind(mode: status.st_mode) == .regular && status.st_nlink == 1
                && (length == nil || status.st_size == length ?? 0)
        }
        guard let status = FileStatus.of(name, in: folder.file), isThat(status) else { return nil }
        let file: OpenFile
        do throws(IOError) {
            file = try OpenFile.open(name, in: folder.file, O_RDWR | O_NONBLOCK)
        } catch {
            // Somebody has taken it over.
            guard [.permissionDenied, .notPermitted, .noSuchFileOrDirectory].contains(error.errno) else { throw error }
            return nil
        }
        guard isThat(try file.status()) else { return nil }
        return file
    }

    /// Adds these bytes as a frame of its own; it is on the disk then. Returns what is to be noted. A failure may leave
    /// some of it there, which `settle` cuts off. Nil: somebody took the file away meanwhile.
    consuming func append(_ bytes: [UInt8]) throws(IOError) -> ArchiveNote? {
        guard lseek(file.descriptor, off_t(note.length), SEEK_SET) >= 0 else {
            throw IOError("write", file.path, .last)
        }
        try compress(bytes)
        try file.sync()
        let status = try file.status()
        guard status.st_nlink > 0, FileStatus.of(name, in: folder.file)?.st_ino == status.st_ino else { return nil }
        var note = note
        (note.length, note.isOpen) = (Int64(status.st_size), false)
        return note
    }

    private func compress(_ bytes: [UInt8]) throws(IOError) {
        do throws(ArchiveWriter.Failure) {
            let writer = try ArchiveWriter.open(file.descriptor, .zstd, level: nil, isUTF8: true)
            let entry = ArchiveWriter.Entry(
                path: Array("jobs".utf8), mode: UInt32(S_IFREG | 0o600), size: Int64(bytes.count), modified: nil)
            var rest = bytes[...]
            try writer.add(entry) { buffer in
                let part = rest.prefix(buffer.count)
                buffer.copyBytes(from: part)
                rest = rest.dropFirst(part.count)
                return part.count
            }
            try writer.finish()
        } catch {
            switch error {
            case .system(let errno), .content(let errno), .temporary(let errno):
                throw IOError("write", file.path, errno)
            case .impossible: throw IOError("compress", file.path, .ioError)
            }
        }
    }

    private static func cut(_ file: borrowing OpenFile, _ length: Int64) throws(IOError) {
        guard ftruncate(file.descriptor, off_t(length)) == 0 else { throw IOError("shorten", file.path, .last) }
    }
}

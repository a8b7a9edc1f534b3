import Archive
import Files
import Glibc
import Journal
import SystemPackage

/// A month's file of an archive, open to be written behind what is noted of it.
struct ArchiveFile: ~Copyable {
    private let file: OpenFile
    let note: ArchiveNote

    /// The one that was noted, where it is this month's, in that folder and as it was left; else a new one.
    static func open(in folder: FilePath, month: String, _ noted: ArchiveNote?) throws(IOError) -> ArchiveFile {
        // The folder itself may be a link.
        let held = try Folder(OpenFile.open(folder.appending("."), O_RDONLY | O_DIRECTORY))
        if let noted, noted.path.removingLastComponent() == folder, let name = noted.path.lastName,
            name.text.hasPrefix(stem(month)), let file = try reopen(name, in: held, noted)
        {
            return ArchiveFile(file: file, note: noted)
        }
        for number in 1...1000 {
            let text = stem(month) + (number == 1 ? "" : ".\(number)") + ".jsonl.zst"
            guard let name = FileName(text), let file = try create(name, in: held) else { continue }
            try held.file.sync()
            let identity = FileIdentity(try file.status())
            return ArchiveFile(file: file, note: ArchiveNote(folder.appending(name), identity, length: 0))
        }
        throw IOError("create a file in", folder, .fileExists)
    }

    private static func stem(_ month: String) -> String { "dropmill-\(month)" }

    /// nil: it is not as it was left. What is behind that is ours: of a writing that was not noted.
    private static func reopen(
        _ name: FileName, in folder: borrowing Folder, _ noted: ArchiveNote
    ) throws(IOError) -> OpenFile? {
        guard let file = try existing(name, in: folder) else { return nil }
        let status = try file.status()
        guard FileIdentity(status) == noted.identity, status.st_size >= noted.length else { return nil }
        if status.st_size > noted.length { try cut(file, noted.length) }
        return file
    }

    /// nil: there is one. An empty one of our own is what is left where a crash came before it was noted.
    private static func create(_ name: FileName, in folder: borrowing Folder) throws(IOError) -> OpenFile? {
        do throws(IOError) {
            let file = try OpenFile.open(name, in: folder.file, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            return file
        } catch {
            guard error.errno == .fileExists else { throw error }
        }
        guard let file = try existing(name, in: folder) else { return nil }
        let status = try file.status()
        guard status.st_size == 0, status.st_uid == geteuid() else { return nil }
        return file
    }

    /// nil: there is none, or it is no file.
    private static func existing(_ name: FileName, in folder: borrowing Folder) throws(IOError) -> OpenFile? {
        guard let status = FileStatus.of(name, in: folder.file), FileKind(mode: status.st_mode) == .regular else {
            return nil
        }
        return try OpenFile.open(name, in: folder.file, O_RDWR | O_NONBLOCK)
    }

    /// Adds these bytes as a frame of its own, all or nothing; it is on the disk then. Returns what is to be noted.
    consuming func append(_ bytes: [UInt8]) throws(IOError) -> ArchiveNote {
        do throws(IOError) {
            guard lseek(file.descriptor, off_t(note.length), SEEK_SET) >= 0 else {
                throw IOError("write", file.path, .last)
            }
            try compress(bytes)
            try file.sync()
            var note = note
            note.length = Int64(try file.status().st_size)
            return note
        } catch {
            // What matters is why; the next one cuts it off, too.
            do throws(IOError) { try Self.cut(file, note.length) } catch {}
            throw error
        }
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
        guard ftruncate(file.descriptor, off_t(length)) == 0 else { throw IOError("write", file.path, .last) }
    }
}

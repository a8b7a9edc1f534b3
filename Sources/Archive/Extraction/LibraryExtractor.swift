import Glibc

/// Writes the entries that libarchive reads, one after the other.
enum LibraryExtractor {
    /// Extracts everything but links and the times of folders, which the writer keeps for the end.
    static func extract(
        _ reader: consuming ArchiveReader, to writer: inout TreeWriter
    ) throws(ArchiveError) {
        writer.replaces = writer.policy.duplicates == .last && reader.isStream
        while let entry = try reader.next() {
            try extract(entry, reader, to: &writer)
        }
    }

    /// Extracts the entry that the reader has come to.
    static func extract(
        _ entry: ArchiveEntry, _ reader: borrowing ArchiveReader, to writer: inout TreeWriter
    ) throws(ArchiveError) {
        let size = if case .file = entry.kind { entry.size ?? 0 } else { Int64(0) }
        try writer.budget.begin(entry.path, size: size)
        try place(entry, reader, &writer)
    }

    private static func place(
        _ entry: ArchiveEntry, _ reader: borrowing ArchiveReader, _ writer: inout TreeWriter
    ) throws(ArchiveError) {
        let path = try writer.check(entry.path, isLink: entry.kind.isLink)
        switch entry.kind {
        case .folder: try writer.makeFolder(path, modified: entry.modified)
        case .file: try write(try writer.createFile(path, mode: entry.mode), path, entry, reader, &writer)
        case .symbolicLink(let target):
            try compare(target.withUnsafeBytes { CRC32.of($0, after: 0) }, entry, reader)
            try writer.addLink(path, to: target)
        case .hardLink(let target):
            let isMade = try writer.makeHardLink(path, to: target, mode: entry.mode)
            // In some formats the data comes with the last name. It belongs to the first one, made or not.
            guard let size = entry.size, size > 0 else { return }
            let first = isMade ? path : try EntryPath(target, writer.policy.limits)
            guard !first.isTop, let folder = writer.cursor.find(first.folder),
                writer.kind(of: first, in: folder) == S_IFREG
            else { throw .unsafe(entry.path, "is a hard link to something that is not an earlier file of the archive") }
            let file = try OutputFile.reopen(first, in: folder, writer.budget)
            try write(file, first, entry, reader, &writer)
        case .special(let word): throw .unsafe(entry.path, "is \(word); only files, folders and links are accepted")
        }
    }

    /// Holds content against the checksum that is given for it.
    private static func compare(
        _ sum: UInt32, _ entry: ArchiveEntry, _ reader: borrowing ArchiveReader
    ) throws(ArchiveError) {
        guard reader.checksum.map({ $0 == sum }) ?? true else {
            throw .damaged(entry.path, "does not match its checksum")
        }
    }

    private static func write(
        _ created: consuming OutputFile, _ path: EntryPath, _ entry: ArchiveEntry, _ reader: borrowing ArchiveReader,
        _ writer: inout TreeWriter
    ) throws(ArchiveError) {
        var file = created
        var length: Int64 = 0
        var sum: UInt32 = 0
        let isChecked = reader.checksum != nil
        reading: while true {
            switch try reader.nextBlock() {
            case .data(let block, let offset):
                if offset == 0 { writer.noteArchive(path, head: block) }
                try file.write(block, at: offset)
                if isChecked { sum = CRC32.of(block, after: sum) }
                length = max(length, offset + Int64(block.count))
            case .end(let offset):
                length = max(length, offset)
                break reading
            }
        }
        if let size = entry.size, size != length {
            throw .damaged(entry.path, "has \(length) bytes, but should have \(size)")
        }
        if isChecked { try compare(sum, entry, reader) }
        let modified = entry.modified.map { FileTimes.clamp($0, to: writer.now) }
        try file.finish(length: length, modified: modified)
    }
}

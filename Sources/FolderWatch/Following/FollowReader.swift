import Files
import Platform
import SystemPackage

/// Reads one file as it grows, be it truncated, replaced by another of its name, or absent for a while. It looks when
/// it is asked to and never waits.
struct FollowReader: ~Copyable {
    private let folder: FilePath
    private let name: FileName
    /// Where to begin once there is a file.
    private var start: FileFollower.Start
    private var file: OpenFile?
    private var place = FollowCheckpoint(inode: 0)
    private var isReopened = false
    private var isTruncated = false

    init(_ name: FileName, in folder: FilePath, from start: FileFollower.Start) {
        self.name = name
        self.folder = folder
        self.start = start
    }

    /// Closes the file; reading goes on from where it was.
    mutating func close() {
        guard file != nil else { return }
        file = nil
        start = .checkpoint(place)
    }

    /// What was appended since; nil for nothing.
    mutating func next() throws(IOError) -> FollowedBytes? {
        try open()
        if let piece = try read() { return piece }
        guard let other = try successor() else { return nil }
        // What was written to the old one before anything was written to this one.
        if let piece = try read() { return piece }
        place = try FollowCheckpoint(inode: other.inode)
        file = consume other
        isReopened = true
        return try read()
    }

    // MARK: Opening

    /// Opens the file if there is one, be it only to know where its end is now.
    mutating func open() throws(IOError) {
        guard file == nil else { return }
        let folder: OpenFile
        do throws(IOError) {
            folder = try OpenInbox.open(self.folder)
        } catch {
            // Of a file that comes later all is told.
            if error.errno.isOfAbsence, start == .end { start = .start }
            throw error
        }
        var found = try Self.open(name, in: folder)
        let inode = try found?.inode
        var place = FollowCheckpoint(inode: inode ?? 0)
        switch start {
        case .start: break
        // Of a file that comes later all is told.
        case .end where inode == nil: start = .start
        case .end: place = try found?.end(place) ?? place
        // One that was cut, or is another one with the number of a removed one, shows when it is read.
        case .checkpoint(let checkpoint) where checkpoint.inode == inode: place = checkpoint
        case .checkpoint(let checkpoint):
            if let renamed = try Self.find(checkpoint, in: folder) {
                // What is left of it comes before the file that has the name now.
                place = checkpoint
                found = consume renamed
            } else {
                isReopened = isReopened || inode != nil
            }
        }
        self.place = place
        file = consume found
    }

    /// The file that another name has now.
    private static func find(_ checkpoint: FollowCheckpoint, in folder: borrowing OpenFile) throws(IOError) -> OpenFile?
    {
        for name in try Folder.names(in: folder) {
            guard let status = FileStatus.of(name, in: folder), UInt64(status.st_ino) == checkpoint.inode,
                FileKind(mode: status.st_mode) == .regular
            else { continue }
            do throws(IOError) {
                if let file = try open(name, in: folder), try file.read(behind: checkpoint) != nil { return file }
            } catch {
                // One that may not be read is as good as gone.
            }
        }
        return nil
    }

    /// The file that has the name now, if it is another one and there is something in it: until then the old one may
    /// still be written to, as while a log is rotated.
    private func successor() throws(IOError) -> OpenFile? {
        guard let own = try file?.status() else { return nil }
        let folder = try OpenInbox.open(folder)
        guard let status = try Self.status(of: name, in: folder), status.st_size > 0,
            FileIdentity(status) != FileIdentity(own)
        else { return nil }
        return try Self.open(name, in: folder)
    }

    /// Opens the regular file of the name; nil where there is none.
    private static func open(_ name: FileName, in folder: borrowing OpenFile) throws(IOError) -> OpenFile? {
        // Opening a device or a FIFO may do something.
        guard try status(of: name, in: folder) != nil else { return nil }
        do throws(IOError) {
            let file = try OpenFile.open(name, in: folder, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            try checkKind(try file.status(), file.path)
            return file
        } catch {
            if error.errno.isOfAbsence { return nil }
            throw error
        }
    }

    /// The metadata of the regular file of the name; nil where there is none.
    private static func status(of name: FileName, in folder: borrowing OpenFile) throws(IOError) -> stat? {
        let path = folder.path.appending(name)
        guard let status = FileStatus.of(name, in: folder) else {
            let errno = Errno.last
            if errno.isOfAbsence { return nil }
            throw IOError("examine", path, errno)
        }
        try checkKind(status, path)
        return status
    }

    private static func checkKind(_ status: stat, _ path: FilePath) throws(IOError) {
        guard FileKind(mode: status.st_mode) == .regular else { throw IOError("follow", path, .invalidArgument) }
    }

    // MARK: Reading

    private mutating func read() throws(IOError) -> FollowedBytes? {
        guard file != nil else { return nil }
        var found: [UInt8]?
        do throws(IOError) {
            found = try file?.read(behind: place)
            if found == nil {
                place = FollowCheckpoint(inode: place.inode)
                isTruncated = true
                found = try file?.read(behind: place)
            }
        } catch {
            // It may have become stale (ESTALE); by its name it may be found again.
            close()
            throw error
        }
        let bytes = found ?? []
        guard !bytes.isEmpty || isTruncated else { return nil }
        let before = place
        place = place.advanced(by: bytes)
        defer { (isReopened, isTruncated) = (false, false) }
        return FollowedBytes(
            bytes: bytes, isReopened: isReopened, isTruncated: isTruncated, checkpoint: place, start: before)
    }
}

extension OpenFile {
    private static let longestPiece: Int64 = 65_536

    fileprivate var inode: UInt64 {
        get throws(IOError) { UInt64(try status().st_ino) }
    }

    /// What the file has behind a place; nil where what was told is not before it any more.
    fileprivate func read(behind place: FollowCheckpoint) throws(IOError) -> [UInt8]? {
        let size = Int64(try status().st_size)
        guard place.isSound, size >= place.offset else { return nil }
        let tail = place.tail
        // Both at once: nothing can be rewritten between two looks.
        let bytes = try read(
            from: place.offset - Int64(tail.count), min(size - place.offset, Self.longestPiece) + Int64(tail.count))
        return bytes.starts(with: tail) ? Array(bytes[tail.count...]) : nil
    }

    /// The end as it is now of a file with this beginning.
    fileprivate func end(_ beginning: FollowCheckpoint) throws(IOError) -> FollowCheckpoint {
        let size = Int64(try status().st_size)
        let tail = min(size, Int64(FollowCheckpoint.longestTail))
        return FollowCheckpoint(inode: beginning.inode, offset: size, tail: try read(from: size - tail, tail))
    }

    private func read(from offset: Int64, _ most: Int64) throws(IOError) -> [UInt8] {
        let descriptor = descriptor
        var failure: Errno?
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(most)) { buffer, count in
            let read = retrying { pread(descriptor, buffer.baseAddress, Int(most), off_t(offset)) }
            if read < 0 { failure = .last }
            count = max(0, read)
        }
        if let failure { throw IOError("read", path, failure) }
        return bytes
    }
}

extension Errno {
    fileprivate var isOfAbsence: Bool { self == .noSuchFileOrDirectory || self == .notDirectory }
}

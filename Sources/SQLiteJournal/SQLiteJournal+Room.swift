import Files
import Glibc
import Journal
import PipelineKit
import SystemPackage

extension SQLiteJournal {
    /// Twice what the index of its log takes (`-shm`).
    private static let room = 64 << 10

    /// Whether there is room for the index of its log. SQLite maps it into memory, and makes sure of a byte of each
    /// page: in a full file system of smaller blocks touching the others would end the process (SIGBUS).
    static func hasRoom(_ path: FilePath) -> Bool {
        hasIndex(path) || Folder.hasRoom(for: room, in: path.removingLastComponent())
    }

    /// Whether another process has it open, so that the index is there and stays: SQLite holds a lock on its byte 128.
    /// The locks of this process on a file end with any descriptor of it, so it is not opened.
    private static func hasIndex(_ path: FilePath) -> Bool {
        guard let index = FileStatus.of(FilePath(path.string + "-shm"), followingLinks: true),
            let locks = ProcessFiles.text("/proc/locks")
        else { return false }
        let (major, minor) = (index.st_dev >> 8 & 0xFFF, index.st_dev & 0xFF | index.st_dev >> 12 & 0xFFF00)
        let place = [major, minor].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
        return locks.split(separator: "\n").contains { $0.hasSuffix(" \(place):\(index.st_ino) 128 128") }
    }

    /// Why it cannot be opened then.
    static func noRoom(_ path: FilePath) -> JournalError {
        JournalError(
            .environment, "Cannot open the journal '\(path.text)': \(Errno.noSpace). Free space on its file system.")
    }
}

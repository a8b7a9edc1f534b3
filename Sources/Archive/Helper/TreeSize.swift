import CLinux
import Glibc
import Helpers

/// How much lies below a folder that a helper writes to, as far as a look went: never more than there is, so that what
/// is too much is too much.
struct TreeSize: Equatable {
    /// Files, folders and links.
    var entries: Int64 = 0
    /// Bytes that files take of the disk, and no more than their length, of which a file system may hold more ready.
    var bytes: Int64 = 0
    /// Names within each other.
    var depth = 0

    /// Looks until all is counted, until there is more than `limits` let be, or until that time of the clock
    /// (nanoseconds, CLOCK_MONOTONIC). What goes meanwhile is not counted, what cannot be looked at neither.
    static func look(at root: Int32, _ limits: ExtractionLimits, until deadline: Int64) -> TreeSize {
        var size = TreeSize()
        var open: [OpaquePointer] = []
        defer { for folder in open { closedir(folder) } }
        if let top = list(root, ".") { open.append(top) }
        var count = 0
        while let folder = open.last, !size.exceeds(limits) {
            count += 1
            if count % 64 == 0, Clock.now() >= deadline { break }
            guard let entry = readdir(folder) else {
                closedir(open.removeLast())
                continue
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if name == [0x2E] || name == [0x2E, 0x2E] { continue }
            let path = name.map { CChar(bitPattern: $0) } + [0]
            var status = stat()
            guard dm_status_beneath(dirfd(folder), path, &status) == 0 else { continue }
            size.count(status)
            size.depth = max(size.depth, open.count)
            if status.st_mode & S_IFMT == S_IFDIR, !size.exceeds(limits), let below = list(dirfd(folder), path) {
                open.append(below)
            }
        }
        return size
    }

    func exceeds(_ limits: ExtractionLimits) -> Bool {
        entries > limits.entries || bytes > limits.bytes || depth > limits.depth
    }

    private mutating func count(_ status: stat) {
        entries += 1
        guard status.st_mode & S_IFMT == S_IFREG else { return }
        let length = max(0, Int64(status.st_size))
        let blocks = max(0, Int64(status.st_blocks)).multipliedReportingOverflow(by: 512)
        // Each of several names has its share.
        let share = min(length, blocks.overflow ? .max : blocks.partialValue) / max(1, Int64(clamping: status.st_nlink))
        let (sum, overflow) = bytes.addingReportingOverflow(share)
        bytes = overflow ? .max : sum
    }

    private static func list(_ folder: Int32, _ path: UnsafePointer<CChar>) -> OpaquePointer? {
        let descriptor = dm_open_beneath(folder, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)
        guard descriptor >= 0 else { return nil }
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            return nil
        }
        return stream
    }
}

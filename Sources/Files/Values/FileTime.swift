/// A file's time. Anyone may set it to any second that fits into 64 bits, so its parts
/// stay apart: as one number of nanoseconds it would not fit.
package struct FileTime: Hashable, Sendable, Comparable {
    /// Whole seconds since 1970-01-01T00:00:00Z.
    package let seconds: Int64
    /// Nanoseconds after them, from 0 to 999,999,999 wherever the file system keeps to POSIX.
    package let nanoseconds: UInt32

    /// A time of the two parts that timespec(3type) has.
    package init(seconds: Int, nanoseconds: Int = 0) {
        self.seconds = Int64(seconds)
        self.nanoseconds = UInt32(clamping: nanoseconds)
    }

    /// Before all that a file can have.
    package static let distantPast = FileTime(seconds: .min)

    /// Earlier first.
    package static func < (left: FileTime, right: FileTime) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

extension Timestamp {
    /// The point that a file's time means; beyond the years 1677 and 2262 the nearest that there is.
    package init(_ time: FileTime) {
        self.init(seconds: Int(time.seconds), nanoseconds: Int(time.nanoseconds))
    }
}

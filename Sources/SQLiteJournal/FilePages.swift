import SQLite

/// The pages of a database's file.
struct FilePages {
    /// As many are given back at once: a few milliseconds, for which other writes wait.
    static let step: Int64 = 256
    /// As many stay at least, for what comes next.
    private static let reserve: Int64 = 64

    /// Bytes of one.
    let size: Int64
    let used: Int64
    let free: Int64
    /// Whether free ones can be given back: that has to be said before there are any (auto_vacuum).
    let isElastic: Bool

    init(_ db: Connection) throws {
        func number(_ name: String) throws -> Int64 { try db.first("PRAGMA \(name)")?.first?.integer ?? 0 }
        (size, free) = (try number("page_size"), try number("freelist_count"))
        used = max(0, try number("page_count") - free)
        isElastic = try number("auto_vacuum") == Self.incremental
    }

    /// `PRAGMA auto_vacuum`.
    static let incremental: Int64 = 2

    /// Those that go back: what is removed each hour is soon taken again, and to move that to and fro would cost more
    /// than it brings.
    var surplus: Int64 { max(0, free - max(Self.reserve, used / 8)) }
}

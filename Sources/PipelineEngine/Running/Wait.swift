import Files

/// How long a drop has waited. Pure.
struct Wait {
    /// When it was seen first.
    let seen: MonotonicTime
    /// When the inbox was first seen whole; nil before.
    let began: MonotonicTime?
    /// Its last change, by the file system's word.
    let changed: FileTime

    /// Since when, at a time by both clocks: since it was seen. One that was there when watching began has waited
    /// before, and only its file system knows since when, by a clock of its own.
    func since(at now: MonotonicTime, _ time: Timestamp) -> MonotonicTime {
        guard began.map({ seen <= $0 }) ?? true, changed.seconds >= Self.firstYear else { return seen }
        return min(seen, now - max(.zero, time - Timestamp(changed)))
    }

    /// 1990: file systems without such a time say 1970 or 1980.
    private static let firstYear = 631_152_000
}

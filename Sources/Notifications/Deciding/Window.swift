import Files

/// The time in which nothing more is told of the same.
enum Window {
    /// Whether it is over. Where the clock was set back to before it began it is.
    static func isOver(since told: Timestamp?, _ digest: Duration, at now: Timestamp) -> Bool {
        guard let told else { return true }
        return now < told || now - told >= digest
    }

    /// When it is over.
    static func end(since told: Timestamp?, _ digest: Duration, at now: Timestamp) -> Timestamp {
        guard let told, !isOver(since: told, digest, at: now) else { return now }
        return told.advanced(by: digest)
    }
}

extension Timestamp {
    func advanced(by time: Duration) -> Timestamp {
        Timestamp(nanoseconds: nanoseconds.addingSaturated(time.nanoseconds))
    }
}

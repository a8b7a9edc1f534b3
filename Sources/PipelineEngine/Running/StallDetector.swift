import Files

/// Since when nothing moves in one pipeline where something should. Pure.
struct StallDetector: Equatable {
    /// Changes with everything that moves.
    struct Mark: Equatable {
        var events = 0
        /// What running stages have done.
        var bytes: Int64 = 0
        var entries: Int64 = 0
    }

    enum News: Equatable {
        case stalls(Stall)
        case moves(after: Duration)
    }

    private(set) var stall: Stall?
    private var mark: Mark?
    /// Since when the mark is this one.
    private var rests: MonotonicTime?
    /// When the inbox was asked, which has not answered since.
    private var asked: MonotonicTime?
    /// When it was looked at last.
    private var looked: MonotonicTime?

    /// After so long without a look the process itself was stopped, and what it waits for has had no chance.
    private static let longestGap = Duration.seconds(60)

    /// Whether the inbox is to be asked whether it answers; not while it does not.
    mutating func asks(at now: MonotonicTime) -> Bool {
        guard asked == nil else { return false }
        asked = now
        return true
    }

    mutating func answered() { asked = nil }

    /// Whether the inbox does not answer, and this for so long.
    func isSilent(for time: Duration, at now: MonotonicTime) -> Bool { asked.map { now - $0 >= time } ?? false }

    /// How it looks now: `mark` is nil where nothing is at work that could move. `limit`: from when on it is a stall.
    mutating func look(_ mark: Mark?, at now: MonotonicTime, limit: Duration) -> News? {
        if let looked, now - looked > Self.longestGap { (rests, asked) = (nil, asked.map { _ in now }) }
        looked = now
        if mark == nil { rests = nil } else if rests == nil || mark != self.mark { rests = now }
        self.mark = mark
        let times = [(Stall.Place.inbox, asked), (.jobs, rests)].compactMap { place, since in
            since.map { Stall(place, for: now - $0) }
        }
        let before = stall
        stall = times.first { $0.time >= limit }
        switch (before, stall) {
        case (nil, let stall?): return .stalls(stall)
        case (let before?, nil): return .moves(after: before.time)
        default: return nil
        }
    }
}

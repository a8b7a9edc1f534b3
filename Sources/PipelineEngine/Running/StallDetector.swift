import Files

/// Since when something does not move in one pipeline that should. Pure.
struct StallDetector: Equatable {
    /// Something at work.
    struct Mark: Equatable {
        let subject: Stall.Subject
        /// Changes with everything that moves.
        let moves: Int64
    }

    enum News: Equatable {
        case stalls(Stall)
        case moves(after: Duration)
    }

    private struct Rest: Equatable {
        let moves: Int64
        let since: MonotonicTime
    }

    /// What has not moved for longest of all that stalls; of the jobs, where the inbox answers.
    private(set) var stall: Stall?
    private var rests: [Stall.Subject: Rest] = [:]
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

    /// How it looks now, with a mark for each thing that is at work. `limit`: from when on what rests is a stall.
    mutating func look(_ marks: [Mark], at now: MonotonicTime, limit: Duration) -> News? {
        if let looked, now - looked > Self.longestGap { (rests, asked) = ([:], asked.map { _ in now }) }
        looked = now
        let former = rests
        rests = [:]
        for mark in marks {
            let before = former[mark.subject].flatMap { $0.moves == mark.moves ? $0 : nil }
            rests[mark.subject] = before ?? Rest(moves: mark.moves, since: now)
        }
        let before = stall
        stall =
            asked.map { Stall(.inbox, for: now - $0) }.flatMap { $0.time >= limit ? $0 : nil } ?? longest(now, limit)
        switch (before, stall) {
        case (let before, let stall?): return before?.subject == stall.subject ? nil : .stalls(stall)
        case (let before?, nil): return .moves(after: before.time)
        case (nil, nil): return nil
        }
    }

    private func longest(_ now: MonotonicTime, _ limit: Duration) -> Stall? {
        rests.lazy.map { Stall($0.key, for: now - $0.value.since) }.filter { $0.time >= limit }
            // Of those that came together always the same.
            .max { ($0.time, $0.job?.text ?? "") < ($1.time, $1.job?.text ?? "") }
    }
}

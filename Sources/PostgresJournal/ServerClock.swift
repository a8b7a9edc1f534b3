import Files

/// How far the database's clock is ahead of this machine's. The end of what is on record is by the database's, so that
/// it is the same moment for all nodes, however wrong their clocks are.
struct ServerClock: Sendable {
    private(set) var lead = Duration.zero

    /// How exactly that is known. What differs by less stays as it is: the same is to be read each time.
    private static let tolerance = Duration.seconds(2)

    /// What it said to a question of that time, whose answer came at this one.
    mutating func note(_ said: Timestamp, asked: Timestamp, answered: Timestamp) {
        let found = said - answered
        guard Duration.zero...Self.tolerance ~= answered - asked, abs(found - lead) > Self.tolerance else { return }
        lead = found
    }

    private func abs(_ time: Duration) -> Duration { max(time, .zero - time) }
}

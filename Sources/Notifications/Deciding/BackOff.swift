package import Files

/// When a message that could not be sent is tried again, and when it is given up.
package enum BackOff {
    /// The first pause, which doubles, and the longest.
    package static let first = Duration.seconds(10), longest = Duration.seconds(15 * 60)
    /// The longest that a server is left alone because it asks for it.
    package static let longestAsked = Duration.seconds(3600)
    /// How long a message is tried.
    package static let patience = Duration.seconds(86_400)

    /// The pause after so many tries. `asked`: how long the other side asks to be left alone.
    package static func pause(after tries: Int, asked: Duration? = nil) -> Duration {
        let doublings = min(max(0, tries - 1), 10)
        let pause = min(longest, first * (1 << doublings))
        return max(pause, min(asked ?? .zero, longestAsked))
    }

    /// Whether something that was to be sent since then is given up. A clock that was set back gives nothing up.
    package static func isOver(since: Timestamp, at now: Timestamp) -> Bool { now - since >= patience }

    /// Whether a wait until then is over. One that is longer than any is not believed: the clock was set back.
    package static func hasCome(_ next: Timestamp, at now: Timestamp) -> Bool {
        next <= now || next - now > longestAsked
    }
}

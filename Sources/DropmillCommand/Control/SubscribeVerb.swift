/// What has changed since a number: answered as soon as there is something, or when the time is over. Asked again and
/// again, each time with the number that the last answer ended with, it is a stream that can be gone on with later.
enum SubscribeVerb: ControlVerb {
    static let name = "subscribe"

    struct Arguments: Codable, Equatable {
        /// The last number that is known already; nil: only what comes from now on.
        var after: UInt64?
        /// Which daemon the number is of; nil: the one that runs.
        var run: String?
        /// How many seconds to wait, at most `longestWait`.
        var wait: Double?
    }

    struct Answer: Codable, Equatable {
        /// Which daemon this is: numbers begin again with each.
        var run: String
        /// The number to go on from.
        var last: UInt64
        /// Whether more has changed than is listed: what is shown has to be read from the beginning.
        var missed: Bool
        var changes: [Change]
    }

    /// One change, as the log has it.
    struct Change: Codable, Equatable, Sendable {
        var number: UInt64
        /// Nanoseconds since 1970.
        var at: Int64
        var event: String
        var message: String
        var pipeline: String?
        var job: String?
        /// A stable word for why, where something failed or pauses.
        var code: String?
    }

    static let longestWait = Duration.seconds(30)
}

/// What has changed since a number: answered as soon as there is something, or when the time is over. Asked again and
/// again, each time with the number that the last answer ended with, it is a stream that can be gone on with later.
package enum SubscribeVerb: ControlVerb {
    package static let name = "subscribe"
    /// Longer than `longestWait`.
    package static let patience = 60

    package struct Arguments: Codable, Equatable, Sendable {
        /// The last number that is known already; nil: only what comes from now on.
        package var after: UInt64?
        /// Which daemon the number is of; nil: the one that runs.
        package var run: String?
        /// How many seconds to wait, at most `longestWait`.
        package var wait: Double?

        package init(after: UInt64? = nil, run: String? = nil, wait: Double? = nil) {
            self.after = after
            self.run = run
            self.wait = wait
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        /// Which daemon this is: numbers begin again with each.
        package var run: String
        /// The number to go on from.
        package var last: UInt64
        /// Whether more has changed than is listed: what is shown has to be read from the beginning.
        package var missed: Bool
        package var changes: [Change]

        package init(run: String, last: UInt64, missed: Bool, changes: [Change]) {
            self.run = run
            self.last = last
            self.missed = missed
            self.changes = changes
        }
    }

    /// One change, as the log has it.
    package struct Change: Codable, Equatable, Sendable {
        package var number: UInt64
        /// Nanoseconds since 1970.
        package var at: Int64
        package var event: String
        package var message: String
        package var pipeline: String?
        package var job: String?
        /// A stable word for why, where something failed or pauses.
        package var code: String?

        package init(
            number: UInt64, at: Int64, event: String, message: String, pipeline: String? = nil, job: String? = nil,
            code: String? = nil
        ) {
            self.number = number
            self.at = at
            self.event = event
            self.message = message
            self.pipeline = pipeline
            self.job = job
            self.code = code
        }
    }

    package static let longestWait = Duration.seconds(30)
}

import Files

/// `limit`: how fast a pipeline claims.
package struct LimitRule: Hashable, Sendable {
    /// So much in each time.
    package struct Rate: Hashable, Sendable {
        package let amount: Int64
        package let time: Duration
        /// As it was written.
        package let text: String

        package init(_ amount: Int64, per time: Duration, text: String) {
            self.amount = amount
            self.time = time
            self.text = text
        }

        /// Times by the names that a rate has for them.
        package static let times: [(name: String, time: Duration)] = [
            ("s", .seconds(1)), ("min", .seconds(60)), ("h", .seconds(3600)), ("d", .seconds(86_400)),
        ]
    }

    package var jobs: Rate?
    package var bytes: Rate?

    package init(jobs: Rate? = nil, bytes: Rate? = nil) {
        self.jobs = jobs
        self.bytes = bytes
    }
}

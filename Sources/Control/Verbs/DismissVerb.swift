/// Takes failed jobs that nobody will retry out of the count of failures. No file is touched.
package enum DismissVerb: ControlVerb {
    package static let name = "dismiss"
    package static let isChange = true

    /// As of `retry`, but for the interval.
    package typealias Arguments = SendingOrder

    package struct Answer: Codable, Equatable, Sendable {
        /// For each that was named, in order; else for each that was dismissed.
        package var results: [Result]
        /// Whether there are more that the filters choose; nil where there are none.
        package var more: Bool?
        /// By what `sending` tells the same; nil where no daemon did it.
        package var run: String?

        package init(results: [Result], more: Bool = false) {
            self.results = results
            self.more = more ? true : nil
        }
    }

    package struct Result: Codable, Equatable, Sendable {
        /// Its id; where there is none, what was asked for.
        package var job: String
        package var isDismissed: Bool
        package var text: String

        package init(job: String, isDismissed: Bool, text: String) {
            self.job = job
            self.isDismissed = isDismissed
            self.text = text
        }
    }

    /// More than that many are not dismissed at once.
    package static let most = 10_000
    private static let mostLines = 100

    package static func result(_ answer: Answer) -> String {
        let dismissed = answer.results.count(where: \.isDismissed)
        let lines = answer.results.prefix(mostLines).map { "\($0.job): \($0.text)" }
        return (["\(dismissed) dismissed"] + lines).joined(separator: "; ")
    }
}

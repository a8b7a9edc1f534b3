/// What a monitor wants to know, as it reads it.
package enum MetricsVerb: ControlVerb {
    package static let name = "metrics"
    package static let patience = 5

    package struct Arguments: Codable, Hashable, Sendable {
        /// Whether as OpenMetrics 1.0 rather than in Prometheus' own format.
        package var openMetrics: Bool?
        /// Whether with `process_*`, which a collector that puts programs' files together has of its own.
        package var process: Bool?
        /// Labels that each sample gets besides, by their names.
        package var labels: [String: String]?

        package init(openMetrics: Bool? = nil, process: Bool? = nil, labels: [String: String]? = nil) {
            self.openMetrics = openMetrics
            self.process = process
            self.labels = labels
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        package var text: String

        package init(text: String) {
            self.text = text
        }
    }
}

/// Ends a run over many jobs after the job at hand.
package enum HaltVerb: ControlVerb {
    package static let name = "halt"
    package static let isChange = true

    package struct Arguments: Codable, Equatable, Sendable {
        package var run: String

        package init(run: String) {
            self.run = run
        }
    }

    package typealias Answer = Nothing
}

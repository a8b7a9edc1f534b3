import ArgumentParser
import Control

/// `dropmill metrics`: what a monitor scrapes.
struct MetricsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Print metrics of the running daemon for Prometheus.",
        discussion: """
            Where no daemon runs, or it does not answer, only 'dropmill_up 0' is printed, with status 0, so that an \
            alert can tell.

            Example: for the textfile collector of node_exporter, from a timer:

              cd /var/lib/prometheus/node-exporter && dropmill metrics > dropmill.new && mv dropmill.new dropmill.prom
            """)

    @Flag(name: .customLong("openmetrics"), help: "In the format OpenMetrics 1.0 rather than Prometheus' own.")
    var isOpen = false

    @Flag(help: "Also what the process takes, which node_exporter's own 'process_' metrics do not go together with.")
    var process = false

    @Option(
        name: .customLong("label"),
        help: ArgumentHelp("A label for all of it, where a host has several daemons.", valueName: "name=value"),
        transform: label)
    var labels: [Label] = []

    @OptionGroup var state: StateArguments

    struct Label {
        let name: String
        let value: String
    }

    @Sendable private static func label(_ text: String) throws -> Label {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { throw ValidationError("'\(text)' is no label, such as daemon=press") }
        return Label(name: parts[0], value: parts[1])
    }

    private var allLabels: [String: String] { Dictionary(labels.map { ($0.name, $0.value) }) { $1 } }

    func validate() throws {
        if let problem = MetricsText.problem(with: allLabels) { throw ValidationError("--label: \(problem)") }
    }

    func run() throws {
        let labels = allLabels
        do throws(ControlClient.Problem) {
            let answer = try ControlClient.ask(
                MetricsVerb.self, .init(openMetrics: isOpen, process: process, labels: labels), in: state.folder.path)
            print(answer.text, terminator: "")
        } catch {
            guard !error.isAnswer, !error.isForbidden, !error.isCrowded else {
                StandardError.print("error: \(error.message)")
                throw error.isForbidden ? ExitStatus.forbidden : ExitStatus.failure
            }
            StandardError.print("warning: \(error.message)")
            print(
                MetricsText.text(of: [.down], as: isOpen ? .openMetrics : .prometheus, labels: labels), terminator: "")
        }
    }
}

extension MetricFamily {
    /// No daemon answers.
    static var down: MetricFamily {
        MetricFamily(name: "dropmill_up", kind: .gauge, help: "Whether the daemon answers.", samples: [.init(value: 0)])
    }
}

package import Files
import PipelineKit

/// That it is outside a pipeline's hours, and until when.
package struct OutsideHours: Sendable, Hashable {
    private let hours: Hours
    /// When they begin; nil: never.
    package let opens: Timestamp?

    init(_ hours: Hours, opens: Timestamp?) {
        self.hours = hours
        self.opens = opens
    }

    /// `outside its hours until Mon 20:00`.
    package func text(at now: Timestamp) -> String {
        "outside its hours" + (opens.map { " until \(hours.text(of: $0, at: now))" } ?? "")
    }
}

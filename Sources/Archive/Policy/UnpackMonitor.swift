import Synchronization

/// Receives an extraction's progress, and decides whether it continues. Called from several threads.
package struct UnpackMonitor: Sendable {
    /// Told what was done since the last call: bytes written, entries begun.
    package let report: @Sendable (_ bytes: Int64, _ entries: Int64) -> Void
    /// Asked often whether to stop.
    package let isStopped: @Sendable () -> Bool

    /// A monitor; by default it does nothing.
    package init(
        report: @escaping @Sendable (Int64, Int64) -> Void = { _, _ in },
        isStopped: @escaping @Sendable () -> Bool = { false }
    ) {
        self.report = report
        self.isStopped = isStopped
    }
}

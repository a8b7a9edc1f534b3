import Synchronization

/// Whom an extraction tells how far it is, and whom it asks whether to go on. Called from several threads.
package struct UnpackMonitor: Sendable {
    /// Told what was done since the last call: bytes written, entries begun.
    package let report: @Sendable (_ bytes: Int64, _ entries: Int64) -> Void
    /// Asked often whether to stop.
    package let isStopped: @Sendable () -> Bool

    /// A monitor; by default one that does not care.
    package init(
        report: @escaping @Sendable (Int64, Int64) -> Void = { _, _ in },
        isStopped: @escaping @Sendable () -> Bool = { false }
    ) {
        self.report = report
        self.isStopped = isStopped
    }
}

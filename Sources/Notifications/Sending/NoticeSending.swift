package import Journal
package import PipelineKit

/// Sends messages; blocks for as long as that takes.
package protocol NoticeSending: Sendable {
    /// Sends one by the way of a rule. `isStopped`: asked again and again; once it says so, it is broken off.
    func send(_ notice: Notice, to target: NotifyTarget, isStopped: @escaping @Sendable () -> Bool) -> Delivery

    /// Tells a dead man's switch that all is well, or what is not.
    func ping(_ ping: NotifyPing, _ problems: [String], isStopped: @escaping @Sendable () -> Bool) -> Delivery
}

import Dispatch
import Files
import Journal
import PipelineKit
import Synchronization

@testable import Notifications

/// A notifier with a clock and another side that do what a test wants; it looks when it is told to.
final class NotifierFixture: Sendable {
    private struct State {
        var now = Timestamp(nanoseconds: 1_700_000_000_000_000_000)
        var troubles: [NotifyEvent: [String: String]] = [:]
        var pipelines = ["press"]
        var warnings: [String] = []
    }

    final class Sender: NoticeSending {
        struct Sent: Equatable {
            var notice: Notice
            var at: Timestamp
        }

        let isDown = Mutex(false)
        /// Whether it hangs, until it is broken off or a test must have failed.
        let hangs = Mutex(false)
        /// Whom alone it hangs for.
        let hangsFor = Mutex<String?>(nil)
        let arrived = Mutex<[Sent]>([])
        let tries = Mutex(0)
        private let now: @Sendable () -> Timestamp

        init(_ now: @escaping @Sendable () -> Timestamp) { self.now = now }

        func send(
            _ notice: Notice, to target: NotifyTarget, isStopped: @escaping @Sendable () -> Bool
        ) -> Delivery {
            tries.withLock { $0 += 1 }
            if hangs.withLock({ $0 }) || hangsFor.withLock({ $0.map(target.recipients.contains) ?? false }) {
                let limit = MonotonicTime.now() + .seconds(20)
                let pause = DispatchSemaphore(value: 0)
                while !isStopped(), MonotonicTime.now() < limit { _ = pause.wait(timeout: .now() + .milliseconds(10)) }
                return Delivery(isTaken: false, said: "it was broken off")
            }
            if isDown.withLock({ $0 }) { return Delivery(isTaken: false, said: "it answered with status 500") }
            arrived.withLock { $0.append(Sent(notice: notice, at: now())) }
            return Delivery(isTaken: true, said: "it answered with status 200")
        }

        func ping(
            _ ping: NotifyPing, _ problems: [String], isStopped: @escaping @Sendable () -> Bool
        ) -> Delivery { Delivery(isTaken: true, said: "") }
    }

    private let state = Mutex(State())
    let outbox = FakeOutbox()

    var now: Timestamp { state.withLock { $0.now } }
    var warnings: [String] { state.withLock { $0.warnings } }

    func pass(_ time: Duration) { state.withLock { $0.now = $0.now.advanced(by: time) } }

    func set(_ event: NotifyEvent, _ troubles: [String: String]?) { state.withLock { $0.troubles[event] = troubles } }

    func set(pipelines: [String]) { state.withLock { $0.pipelines = pipelines } }

    func sender() -> Sender { Sender { @Sendable [self] in now } }

    /// A run of the daemon.
    func start(_ rules: [NotifyRule], _ sender: Sender, _ seat: (any Outbox)? = nil) -> Notifier {
        var world = NotifyWorld(
            look: { @Sendable [self] _ in
                state.withLock { NotifyLook(pipelines: $0.pipelines, troubles: $0.troubles) }
            }, warn: { @Sendable [self] warning in state.withLock { $0.warnings.append(warning) } })
        world.now = { @Sendable [self] in now }
        let notifier = Notifier(seat ?? outbox, world, sender, isStanding: false)
        notifier.begin(rules)
        notifier.settle()
        return notifier
    }

    static func rule(
        _ events: Set<NotifyEvent>, quiet: Duration? = nil, pipelines: [String] = [], digest: Duration = .seconds(300)
    ) -> NotifyRule {
        NotifyRule(
            events: events, quiet: quiet, pipelines: pipelines.compactMap { Glob($0) }, target: NotifyTarget(.mail),
            digest: digest)
    }
}

extension Notifier {
    /// Returns once all that is sent by it is sent, and noted.
    nonisolated func turnNow() {
        sync { $0.turn() }
        deliveries.wait()
    }

    nonisolated func settle() {
        sync { _ in }
        deliveries.wait()
    }
}

@preconcurrency import Dispatch
package import Files
package import PipelineKit

/// Tells dead man's switches elsewhere that the daemon is there, and what is not well; on a queue of its own, so that
/// no message holds that up. Once the daemon stops, or hangs, nothing is told, and they say so.
package actor Pinger: QueueActor {
    package nonisolated let executor = QueueExecutor(label: "dropmill.notify.ping")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let world: NotifyWorld
    private let sender: any NoticeSending
    private var timers: [any DispatchSourceTimer] = []
    private var pings: [NotifyPing] = []
    /// Which of them could not be told.
    private var warned: Set<Int> = []
    private nonisolated let stop = StopMark()

    package init(_ world: NotifyWorld, _ sender: any NoticeSending) { (self.world, self.sender) = (world, sender) }

    /// These from now on, each at once and then again and again.
    package nonisolated func use(_ pings: [NotifyPing]) {
        enqueue { pinger in
            guard pinger.pings != pings else { return }
            pinger.replace(pings)
        }
    }

    /// Nothing any more.
    package nonisolated func close() {
        stop.set()
        enqueue { $0.replace([]) }
    }

    private func replace(_ pings: [NotifyPing]) {
        for timer in timers { timer.cancel() }
        (self.pings, warned, timers) = (pings, [], [])
        guard !stop.isSet else { return }
        timers = pings.map { ping in
            executor.queue.every(ping.every, from: .zero, leeway: .milliseconds(100)) { @Sendable [weak self] in
                self?.assumeIsolated { $0.tell(ping) }
            }
        }
    }

    private func tell(_ ping: NotifyPing) {
        guard !stop.isSet else { return }
        let problems = world.problems()
        let delivery = sender.ping(ping, problems) { @Sendable [stop] in stop.isSet }
        guard !stop.isSet else { return }
        if delivery.isTaken {
            warned.remove(ping.number)
        } else if warned.insert(ping.number).inserted {
            world.warn("notify[\(ping.number)] (\(ping.shown)): it cannot be told: \(delivery.said)")
        }
    }
}

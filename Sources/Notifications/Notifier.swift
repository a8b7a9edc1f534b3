@preconcurrency import Dispatch
package import Files
package import Journal
package import PipelineKit
import Synchronization

/// Tells people what happens: looks at what is, on a queue of its own, and has sent what is to be told, one message of
/// a rule at a time: a place that does not answer holds up no other rule's. Nothing waits for it; who sees something
/// happen only says that it is worth a look.
package actor Notifier: QueueActor {
    package nonisolated let executor = QueueExecutor(label: "dropmill.notify")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// How often all is looked at.
    static let glance = Duration.seconds(30)
    /// How long after a failure the journal has it, mostly; and how soon after a look the next one for one may be.
    private static let delay = Duration.milliseconds(500), pace = Duration.seconds(5)
    /// Looks for a failure that the journal does not have yet, each twice as late as the one before.
    private static let mostLooks = 6
    /// How long what a run begins with is not taken for how it stays.
    private static let settling = Duration.seconds(60)
    /// How many messages are on their way at once, and how long one may be.
    private static let mostAtOnce = 8
    private static let longest = Duration.seconds(600)

    private let outbox: any Outbox
    private let world: NotifyWorld
    private let sender: any NoticeSending
    private var book: NotifyBook
    /// What is to be put on record with the next change.
    private var unsaved = OutboxChange()
    private var figures: [String: Figures]?
    private var began: Timestamp?
    private var alarm: Alarm?
    /// When it goes off.
    private var wakesAt = MonotonicTime.distantFuture
    private var lookedForFailure: Timestamp?
    private var looks = 0
    /// Rules whose trouble with sending was reported.
    private var warned: Set<String> = []
    private var hasUnreadable = false
    private nonisolated let hint = Atomic(false)
    private nonisolated let stopping = StopMark()
    /// The messages that are on their way, with their rules.
    private var underWay: [String: String] = [:]
    private let sending = DispatchQueue(label: "dropmill.notify.send", attributes: .concurrent)
    /// Those of which the outcome is not noted yet.
    nonisolated let deliveries = DispatchGroup()

    /// Begins with what is in the outbox, once there are rules. `isStanding`: it looks by itself, again and again.
    package init(_ outbox: any Outbox, _ world: NotifyWorld, _ sender: any NoticeSending, isStanding: Bool = true) {
        (self.outbox, self.world, self.sender) = (outbox, world, sender)
        book = NotifyBook()
        if isStanding { enqueue { $0.wake() } }
    }

    private var isOpened = false

    private func wake() {
        alarm = Alarm(on: executor.queue, leeway: .milliseconds(50)) { @Sendable [weak self] in
            self?.assumeIsolated { $0.turn() }
        }
        setAlarm()
    }

    /// Reads what is on record, once; returns whether that is known, and this process's to tell.
    private func open() -> Bool {
        guard outbox.mayTell() else {
            if isOpened { leave() }
            return false
        }
        guard !isOpened else { return true }
        do throws(JournalError) {
            let (notices, standings, unreadable) = try outbox.outbox()
            let rules = book.rules
            book = NotifyBook(notices, standings)
            isOpened = true
            adopt(rules)
            hasUnreadable = false
            if unreadable > 0 {
                let what = unreadable == 1 ? "1 record is" : "\(unreadable) records are"
                world.warn("\(what) removed that cannot be read, of what was told and is to be told")
            }
        } catch {
            if !hasUnreadable { world.warn("what is to be told cannot be read: \(error.message)") }
            hasUnreadable = true
        }
        return isOpened
    }

    /// Another process goes on with it: what is on record is read again should it come back.
    private func leave() {
        let rules = book.rules
        (book, unsaved, isOpened) = (NotifyBook(), OutboxChange(), false)
        adopt(rules)
    }

    // MARK: From outside

    /// Other rules are in force.
    package nonisolated func use(_ rules: [NotifyRule]) {
        enqueue { notifier in
            notifier.adopt(rules)
            notifier.turn()
        }
    }

    /// The same, and returns when what was told before is known.
    package nonisolated func begin(_ rules: [NotifyRule]) {
        sync { notifier in
            notifier.adopt(rules)
            notifier.look()
        }
        enqueue { $0.turn() }
    }

    /// Trouble has begun; nil: it is over. `pipeline` is empty where it is about the daemon.
    package nonisolated func note(_ event: NotifyEvent, of pipeline: String, _ reason: String?) {
        enqueue { notifier in
            guard notifier.open() else { return }
            notifier.book.note(event, of: pipeline, reason, at: notifier.world.now())
            notifier.turn()
        }
    }

    /// Jobs fail: called for each, so it does next to nothing.
    package nonisolated func noteFailure() {
        guard !hint.exchange(true, ordering: .relaxed) else { return }
        enqueue { $0.lookForFailure() }
    }

    /// Sends nothing any more. `last`: looks once more, and sends what is due, for so long at most.
    package nonisolated func close(last: Duration?, then done: @escaping @Sendable () -> Void) {
        // What is being sent at this moment has no more time either.
        let deadline = MonotonicTime.now() + (last ?? .zero)
        stopping.set(at: deadline)
        enqueue { $0.end(isLast: last != nil, done) }
    }

    private func end(isLast: Bool, _ done: @escaping @Sendable () -> Void) {
        alarm?.set(nil)
        alarm = nil
        if isLast, !book.rules.isEmpty {
            look()
            send()
        }
        // What is on its way ends by then.
        deliveries.notify(queue: executor.queue) { @Sendable [stopping] in
            stopping.set()
            done()
        }
    }

    // MARK: Turns

    private func adopt(_ rules: [NotifyRule]) {
        let (change, dropped) = book.adopt(rules)
        warned.formIntersection(rules.map(\.identity))
        guard isOpened else { return }
        unsaved.add(change)
        if dropped > 0 {
            let what = dropped == 1 ? "1 notification" : "\(dropped) notifications"
            world.warn("\(what) of rules that are gone \(dropped == 1 ? "is" : "are") dropped")
        }
    }

    private func lookForFailure() {
        hint.store(false, ordering: .relaxed)
        let now = world.now()
        looks = Self.mostLooks
        let isLate = lookedForFailure.map { now < $0 || now - $0 > Self.pace } ?? true
        wake(by: .now() + (isLate ? Self.delay : Self.pace))
    }

    private func wake(by time: MonotonicTime) {
        guard time < wakesAt else { return }
        wakesAt = time
        alarm?.set(time)
    }

    /// Looks, sends what is due, and sets when to do so again.
    func turn() {
        guard !stopping.isSet, !book.rules.isEmpty || !isOpened else { return save() }
        look()
        send()
        setAlarm()
    }

    private func look() {
        guard open() else { return }
        let now = world.now()
        let began = began ?? now
        self.began = began
        var look = world.look(now >= began && now - began < Self.settling)
        do throws(JournalError) {
            let found = try outbox.figures()
            if looks > 0 {
                lookedForFailure = now
                looks = failures(found) == failures(figures) ? looks - 1 : 0
            }
            (figures, look.figures) = (found, found)
            let failures = NotifyBook.Failures(outbox)
            try book.observe(look, failures, at: now)
            let before = book
            do throws(JournalError) {
                var change = unsaved
                change.add(try book.post(figures, failures, at: now))
                try outbox.change(change)
                unsaved = OutboxChange()
            } catch {
                book = before
                throw error
            }
        } catch {
            // The daemon tells of its journal's trouble by itself; this is tried again with the next look.
        }
    }

    private func failures(_ figures: [String: Figures]?) -> [String: UInt64?]? {
        figures?.mapValues { $0.ended[.failed]?.jobs }
    }

    private func save() {
        guard isOpened, !unsaved.isEmpty else { return }
        do throws(JournalError) {
            try outbox.change(unsaved)
            unsaved = OutboxChange()
        } catch {
            // With the next one.
        }
    }

    /// What is due, as much as there is room for.
    private func send() {
        while !stopping.isSet, underWay.count < Self.mostAtOnce,
            let (notice, rule) = book.due(at: world.now(), besides: underWay)
        {
            underWay[notice.id] = rule.identity
            let deadline = MonotonicTime.now() + Self.longest
            deliveries.enter()
            sending.async { @Sendable [self, sender, stopping] in
                let delivery = sender.send(notice, to: rule.target) { @Sendable in
                    stopping.isSet || MonotonicTime.now() > deadline
                }
                let isBrokenOff = !delivery.isTaken && (stopping.isSet || MonotonicTime.now() > deadline)
                enqueue { notifier in
                    // What was broken off is nobody's fault.
                    notifier.take(isBrokenOff ? nil : delivery, of: notice.id, by: rule)
                    notifier.deliveries.leave()
                }
            }
        }
    }

    /// Notes what came of a message, and goes on.
    private func take(_ delivery: Delivery?, of id: String, by rule: NotifyRule) {
        underWay[id] = nil
        // A reload may have dropped it meanwhile, or given it to a rule in the place of its own.
        if let delivery, let notice = book.notice(id) { note(delivery, notice, rule) }
        save()
        send()
        setAlarm()
    }

    private func note(_ delivery: Delivery, _ notice: Notice, _ rule: NotifyRule) {
        let now = world.now()
        if delivery.isTaken {
            unsaved.add(book.sent(notice, at: now))
            warned.remove(rule.identity)
        } else {
            let (change, isDropped) = book.failed(notice, asked: delivery.retryAfter, at: now)
            unsaved.add(change)
            report(delivery, notice, rule, isDropped)
        }
    }

    private func report(_ delivery: Delivery, _ notice: Notice, _ rule: NotifyRule, _ isDropped: Bool) {
        let subject = "notify[\(rule.number)] (\(rule.target.shown))"
        if warned.insert(rule.identity).inserted {
            let remedy =
                isDropped ? "" : "; it is tried again, for \(BackOff.patience.text) at most: correct its 'to', or wait"
            world.warn("\(subject): a message cannot be sent: \(delivery.said)\(remedy)")
        }
        guard isDropped else { return }
        world.warn(
            "\(subject): '\(notice.title)' is dropped, which could not be sent for \(BackOff.patience.text): "
                + delivery.said)
    }

    private func setAlarm() {
        guard let alarm else { return }
        let now = world.now()
        let shortest = book.rules.compactMap(\.quiet).min().map { $0 / 4 } ?? Self.glance
        var pause = min(Self.glance, max(shortest, .milliseconds(200)))
        if looks > 0 { pause = min(pause, Self.delay * (1 << (Self.mostLooks - looks))) }
        let isFull = underWay.count >= Self.mostAtOnce
        if let next = book.next(figures, at: now, besides: underWay, isFull: isFull) {
            pause = min(pause, max(.milliseconds(20), next - now))
        }
        wakesAt = .now() + pause
        alarm.set(wakesAt)
    }
}

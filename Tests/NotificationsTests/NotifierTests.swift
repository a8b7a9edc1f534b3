import Files
import Journal
import PipelineKit
import Testing

@testable import Notifications

/// What is told, by a clock of the test's own.
@Suite struct NotifierTests {
    private let fixture = NotifierFixture()

    private func total(_ sender: NotifierFixture.Sender) -> UInt64 {
        sender.arrived.withLock { $0.reduce(0) { $0 + $1.notice.count } }
    }

    private func titles(_ sender: NotifierFixture.Sender) -> [String] {
        sender.arrived.withLock { $0.map(\.notice.title) }
    }

    @Test func aBurstIsOneMessageAndOneADigest() {
        let sender = fixture.sender()
        let notifier = fixture.start([NotifierFixture.rule([.failed])], sender)
        notifier.turnNow()
        #expect(titles(sender) == [], "what was before is not told")
        // 2,500 in twelve minutes, looked at every second.
        for second in 0..<720 {
            for number in 0..<(second < 340 ? 4 : 3) {
                fixture.outbox.end("press", number == 3 ? "run.failed" : "archive.damaged", at: fixture.now)
            }
            notifier.turnNow()
            fixture.pass(.seconds(1))
        }
        #expect(titles(sender).count == 3, "\(titles(sender))")
        fixture.pass(.seconds(300))
        notifier.turnNow()
        #expect(total(sender) == 340 * 4 + 380 * 3)
        let counts = sender.arrived.withLock { $0.map(\.notice.count) }
        #expect(counts == [4, 1200, 939, 357] && titles(sender)[2] == "press: 939 more failed")
        let text = sender.arrived.withLock { $0[1].notice.text }
        #expect(text == "1200 more of press failed: archive.damaged 900, run.failed 300")
        #expect(fixture.outbox.notices.isEmpty && fixture.outbox.changes < 20, "\(fixture.outbox.changes)")
        fixture.pass(.seconds(3600))
        notifier.turnNow()
        #expect(titles(sender).count == 4)
    }

    /// Where several hosts share a journal one tells for all.
    @Test func troubleOfAPipelineThatIsLoadedElsewhereIsToldOnceAndItsEnd() {
        let sender = fixture.sender()
        let notifier = fixture.start([NotifierFixture.rule([.paused])], sender)
        fixture.set(.paused, ["covers": "On the node 'mill-2': The disk is full."])
        for _ in 0..<10 {
            notifier.turnNow()
            fixture.pass(.seconds(600))
        }
        #expect(titles(sender) == ["covers is paused"])
        fixture.set(.paused, [:])
        for _ in 0..<3 {
            notifier.turnNow()
            fixture.pass(.seconds(600))
        }
        #expect(titles(sender) == ["covers is paused", "covers goes on"])
    }

    @Test func nothingIsLostWhileTheOtherSideIsDown() {
        let sender = fixture.sender()
        let notifier = fixture.start([NotifierFixture.rule([.failed, .paused])], sender)
        sender.isDown.withLock { $0 = true }
        for minute in 0..<60 {
            fixture.outbox.end("press", "archive.damaged", at: fixture.now)
            fixture.set(.paused, minute % 7 == 3 ? ["press": "The disk is full."] : [:])
            notifier.turnNow()
            fixture.pass(.seconds(60))
        }
        #expect(fixture.outbox.notices.count <= 2, "it is bounded")
        #expect(sender.tries.withLock { $0 } < 30, "it is left alone for longer and longer")
        #expect(fixture.warnings.count == 1 && fixture.warnings[0].contains("status 500"), "\(fixture.warnings)")
        sender.isDown.withLock { $0 = false }
        fixture.set(.paused, [:])
        for _ in 0..<30 {
            notifier.turnNow()
            fixture.pass(.seconds(60))
        }
        let failed = sender.arrived.withLock { $0.filter { $0.notice.event == "failed" } }
        #expect(failed.reduce(0) { $0 + $1.notice.count } == 60)
        #expect(failed.count == 2 && failed[1].at - failed[0].at >= .seconds(300))
        let paused = sender.arrived.withLock { $0.filter { $0.notice.event == "paused" }.map(\.notice) }
        #expect(paused.first?.state == .begun && paused.last?.state == .over, "\(paused)")
        #expect(fixture.outbox.notices.isEmpty)
    }

    @Test func whatCannotBeSentForADayIsDroppedWithAWarning() {
        let sender = fixture.sender()
        let notifier = fixture.start([NotifierFixture.rule([.failed])], sender)
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        sender.isDown.withLock { $0 = true }
        for _ in 0..<(24 * 60 + 20) {
            notifier.turnNow()
            fixture.pass(.seconds(60))
        }
        #expect(fixture.outbox.notices.isEmpty)
        #expect(fixture.warnings.count == 2 && fixture.warnings[1].contains("'press: 1 failed' is dropped"))
        #expect(sender.tries.withLock { $0 } < 120)
    }

    /// Killed after it was sent and before that was noted.
    @Test func whatWasSentAndNotNotedIsSentOnceMoreWithItsID() {
        let (sender, rules) = (fixture.sender(), [NotifierFixture.rule([.failed])])
        do {
            let notifier = fixture.start(rules, sender)
            fixture.outbox.end("press", "archive.damaged", at: fixture.now)
            sender.isDown.withLock { $0 = true }
            notifier.turnNow()
            #expect(fixture.outbox.notices.count == 1)
            sender.isDown.withLock { $0 = false }
            fixture.pass(.seconds(60))
            fixture.outbox.isBroken = true
            notifier.turnNow()
            #expect(titles(sender).count == 1)
        }
        fixture.outbox.isBroken = false
        let next = fixture.start(rules, sender)
        next.turnNow()
        fixture.pass(.seconds(3600))
        next.turnNow()
        let ids = sender.arrived.withLock { $0.map(\.notice.id) }
        #expect(ids.count == 2 && ids[0] == ids[1])
    }

    /// Killed after jobs have failed and before anybody looked.
    @Test func whatFailedBeforeAKillIsToldByTheNextRun() {
        let (sender, rules) = (fixture.sender(), [NotifierFixture.rule([.failed])])
        _ = fixture.start(rules, sender)
        for _ in 0..<37 { fixture.outbox.end("press", "archive.damaged", at: fixture.now) }
        let next = fixture.start(rules, sender)
        #expect(titles(sender) == ["press: 37 failed"])
        next.turnNow()
        _ = fixture.start(rules, sender)
        #expect(titles(sender).count == 1)
    }

    @Test func failuresThatWereAllMendedAreLeftOut() {
        let sender = fixture.sender()
        let notifier = fixture.start([NotifierFixture.rule([.failed])], sender)
        fixture.pass(.seconds(1))
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        notifier.turnNow()
        #expect(titles(sender).count == 1)
        fixture.pass(.seconds(10))
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        notifier.turnNow()
        fixture.outbox.mend("press")
        fixture.pass(.seconds(300))
        notifier.turnNow()
        #expect(titles(sender).count == 1)
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        notifier.turnNow()
        #expect(titles(sender).count == 2 && sender.arrived.withLock { $0[1].notice.count } == 1)
    }

    @Test func quietIsToldOnceAndItsEndOnce() {
        let (sender, rules) = (fixture.sender(), [NotifierFixture.rule([], quiet: .seconds(26 * 3600))])
        let notifier = fixture.start(rules, sender)
        for _ in 0..<80 {
            fixture.pass(.seconds(3600))
            notifier.turnNow()
        }
        #expect(titles(sender) == ["press is quiet"])
        let next = fixture.start(rules, sender)
        next.turnNow()
        #expect(titles(sender).count == 1, "a restart tells nothing again")
        fixture.outbox.end("press", at: fixture.now)
        for _ in 0..<20 {
            next.turnNow()
            fixture.pass(.seconds(3600))
        }
        #expect(titles(sender) == ["press is quiet", "press processes again"])
    }

    @Test func aRecoveryIsToldToWhomTheTroubleWas() {
        let sender = fixture.sender()
        let rules = NotifyPlan(rules: [
            NotifierFixture.rule([.paused]), NotifierFixture.rule([.resumed]), NotifierFixture.rule([.stalled]),
            NotifierFixture.rule([.paused], pipelines: ["scans*"]),
        ]).rules
        let notifier = fixture.start(rules, sender)
        notifier.note(.paused, of: "press", "The disk is full.")
        notifier.turnNow()
        #expect(titles(sender) == ["press is paused"])
        notifier.note(.paused, of: "press", nil)
        notifier.turnNow()
        #expect(titles(sender) == ["press is paused", "press goes on"], "who was told waits for the digest")
        fixture.pass(.seconds(300))
        notifier.turnNow()
        #expect(titles(sender) == ["press is paused", "press goes on", "press goes on"])
        #expect(sender.arrived.withLock { Set($0.map(\.notice.rule)) } == Set(rules.prefix(2).map(\.identity)))
    }

    /// What an earlier run has told, and what is no more, is over.
    @Test func troubleThatARunDoesNotHaveIsOver() {
        let (sender, rules) = (fixture.sender(), [NotifierFixture.rule([.paused])])
        fixture.set(.paused, ["press": "The disk is full."])
        _ = fixture.start(rules, sender)
        fixture.set(.paused, nil)
        let next = fixture.start(rules, sender)
        #expect(titles(sender) == ["press is paused"], "it may be paused again in a moment")
        fixture.set(.paused, [:])
        fixture.pass(.seconds(300))
        next.turnNow()
        #expect(titles(sender) == ["press is paused", "press goes on"])
    }

    @Test func aReloadNeitherLosesNorTellsTwice() {
        let sender = fixture.sender()
        let rule = NotifierFixture.rule([.failed])
        let notifier = fixture.start([rule], sender)
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        sender.isDown.withLock { $0 = true }
        notifier.turnNow()
        var corrected = NotifyTarget(.mail)
        corrected.recipients = ["ops@example.org"]
        notifier.use([NotifyRule(number: 2, events: [.failed], target: corrected)])
        sender.isDown.withLock { $0 = false }
        fixture.pass(.seconds(60))
        notifier.turnNow()
        #expect(titles(sender) == ["press: 1 failed"])
        notifier.use([])
        notifier.turnNow()
        #expect(fixture.outbox.standings.isEmpty && fixture.warnings.count == 1, "\(fixture.warnings)")
    }

    private func rule(_ events: Set<NotifyEvent>, to recipient: String) -> NotifyRule {
        var target = NotifyTarget(.mail)
        target.recipients = [recipient]
        return NotifyRule(events: events, target: target)
    }

    /// What was for one must not go to another because they ask for the same.
    @Test(arguments: [true, false]) func aRuleThatGoesLeavesItsMessagesToNoneThatIsLikeIt(inOneRun: Bool) {
        let sender = fixture.sender()
        let rules = ["one", "two"].map { rule([.paused], to: $0) }
        let all = NotifyPlan(rules: rules).rules
        var notifier = fixture.start(all, sender)
        sender.isDown.withLock { $0 = true }
        notifier.note(.paused, of: "press", "The disk is full.")
        notifier.turnNow()
        fixture.pass(.seconds(60))
        notifier.turnNow()
        #expect(fixture.outbox.notices.count == 2)
        let second = fixture.outbox.notices.first { $0.rule != all[0].identity }
        sender.isDown.withLock { $0 = false }
        fixture.pass(.seconds(600))
        let rest = NotifyPlan(rules: [rules[1]]).rules
        if inOneRun { notifier.use(rest) } else { notifier = fixture.start(rest, sender) }
        notifier.turnNow()
        let arrived = sender.arrived.withLock { $0.map(\.notice) }
        #expect(arrived.map(\.id) == [second?.id], "what is for the one that stays, alone")
        #expect(fixture.warnings.last == "1 notification of rules that are gone is dropped")
    }

    /// One more of its kind takes nothing from it, and one of several whose address is corrected keeps what waits.
    @Test func aRuleKeepsWhatIsItsOwnAmongThoseThatAreLikeIt() {
        let sender = fixture.sender()
        let (one, two) = (rule([.failed], to: "one"), rule([.failed], to: "two"))
        let notifier = fixture.start(NotifyPlan(rules: [one]).rules, sender)
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        sender.isDown.withLock { $0 = true }
        notifier.turnNow()
        let id = fixture.outbox.notices.first?.id
        notifier.use(NotifyPlan(rules: [two, one]).rules)
        notifier.turnNow()
        notifier.use(NotifyPlan(rules: [two, rule([.failed], to: "corrected")]).rules)
        sender.isDown.withLock { $0 = false }
        fixture.pass(.seconds(60))
        notifier.turnNow()
        #expect(titles(sender) == ["press: 1 failed"] && fixture.outbox.notices.isEmpty)
        #expect(sender.arrived.withLock { $0.first?.notice.id } == id && fixture.warnings.count == 1)
        #expect(fixture.outbox.standings.count == 2)
    }

    /// A time that is corrected is no end, and nothing is told again.
    @Test func quietWithAnotherTimeIsTheSameRule() {
        let sender = fixture.sender()
        let notifier = fixture.start([NotifierFixture.rule([], quiet: .seconds(3600))], sender)
        for _ in 0..<3 {
            fixture.pass(.seconds(1800))
            notifier.turnNow()
        }
        #expect(titles(sender) == ["press is quiet"])
        notifier.use([NotifierFixture.rule([], quiet: .seconds(7200))])
        for _ in 0..<3 {
            notifier.turnNow()
            fixture.pass(.seconds(1800))
        }
        #expect(titles(sender) == ["press is quiet"])
        fixture.outbox.end("press", at: fixture.now)
        notifier.turnNow()
        #expect(titles(sender) == ["press is quiet", "press processes again"])
    }

    /// One that failed a year ago, and is still there, is no reason to count all jobs since.
    @Test func noMoreIsCountedThanWhatIsNotTold() {
        let sender = fixture.sender()
        let notifier = fixture.start([NotifierFixture.rule([.failed])], sender)
        fixture.pass(.seconds(1))
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        notifier.turnNow()
        for _ in 0..<100 {
            fixture.pass(.seconds(86_400))
            notifier.turnNow()
        }
        fixture.pass(.seconds(30))
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        fixture.outbox.mend("press")
        notifier.turnNow()
        #expect(titles(sender).count == 1 && fixture.outbox.counted.count == 1)
        let since = fixture.outbox.counted.first.map { fixture.now - $0 }
        #expect(since.map { $0 <= .seconds(600) } == true, "\(since as Any)")
    }

    @Test func messagesOfARuleThatIsGoneAreDroppedWithAWarning() {
        let sender = fixture.sender()
        let notifier = fixture.start([NotifierFixture.rule([.failed])], sender)
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        sender.isDown.withLock { $0 = true }
        notifier.turnNow()
        notifier.use([NotifierFixture.rule([.stalled])])
        notifier.turnNow()
        #expect(fixture.outbox.notices.isEmpty)
        #expect(fixture.warnings.last == "1 notification of rules that are gone is dropped")
    }

    @Test func whatIsKnownOfAPipelineThatIsGoneIsForgotten() {
        let sender = fixture.sender()
        let notifier = fixture.start([NotifierFixture.rule([.failed, .paused], quiet: .seconds(3600))], sender)
        notifier.note(.paused, of: "press", "The disk is full.")
        notifier.turnNow()
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        fixture.set(pipelines: ["scans"])
        for _ in 0..<3 {
            notifier.turnNow()
            fixture.pass(.seconds(300))
        }
        #expect(titles(sender).sorted() == ["press goes on", "press is paused", "press: 1 failed"])
        #expect(!fixture.outbox.standings.contains { $0.key.pipeline == "press" })
    }

    /// Killed at any moment, with a journal and another side that fail at any time: every failure is told, and what is
    /// told twice has the same id.
    @Test(arguments: 0..<40) func whateverHappensEveryFailureIsTold(seed: UInt64) {
        var random = Generator(seed)
        let (sender, rules) = (fixture.sender(), [NotifierFixture.rule([.failed])])
        var notifier = fixture.start(rules, sender)
        var failed: UInt64 = 0
        for _ in 0..<400 {
            fixture.pass(.seconds(Int.random(in: 0...90, using: &random)))
            switch Int.random(in: 0..<10, using: &random) {
            case 0: notifier = fixture.start(rules, sender)
            case 1: fixture.outbox.isBroken.toggle()
            case 2: sender.isDown.withLock { $0.toggle() }
            case 3...6:
                failed += 1
                fixture.outbox.end("press", Bool.random(using: &random) ? "a.b" : "c.d", at: fixture.now)
            default: notifier.turnNow()
            }
        }
        fixture.outbox.isBroken = false
        sender.isDown.withLock { $0 = false }
        for _ in 0..<10 {
            fixture.pass(.seconds(1000))
            notifier.turnNow()
        }
        let told = sender.arrived.withLock { $0.map(\.notice) }
        let byID = Dictionary(told.map { ($0.id, $0.count) }) { first, second in
            #expect(first == second)
            return first
        }
        #expect(byID.values.reduce(0, +) == failed, "\(told.map(\.title))")
        #expect(fixture.outbox.notices.isEmpty)
    }

    /// As long as the journal cannot be written nothing is sent that nobody would know of later.
    @Test func whatCannotBeNotedIsNotSent() {
        let sender = fixture.sender()
        let notifier = fixture.start([NotifierFixture.rule([.failed])], sender)
        fixture.outbox.end("press", "archive.damaged", at: fixture.now)
        fixture.outbox.isBroken = true
        notifier.turnNow()
        #expect(titles(sender) == [])
        fixture.outbox.isBroken = false
        notifier.turnNow()
        #expect(titles(sender) == ["press: 1 failed"])
    }
}

import Control
import FoundationEssentials
import PipelineEngine
import PipelineKit

extension CancelVerb.Result {
    init(_ id: JobID, _ outcome: CallingOff) {
        self.init(job: id.text, isCancelled: outcome.isCalledOff, text: outcome.text)
    }
}

extension ReleaseVerb.Result {
    init(_ id: JobID, _ outcome: Releasing) {
        self.init(job: id.text, isReleased: outcome.isReleased, text: outcome.text)
    }
}

extension WaitingReply {
    init(_ drop: WaitingDrop) {
        self.init(
            path: Data(drop.path), known: drop.known?.seconds, code: drop.waiting.code, text: drop.waiting.text,
            waits: drop.waiting.isWaiting, claimed: drop.isClaimed)
    }
}

extension WaitingVerb.Stalled {
    init(_ stall: Stall) {
        self.init(time: stall.time.seconds, text: stall.text, job: stall.job?.text, stage: stall.stage)
    }
}

extension WaitingVerb.Inbox {
    init(_ snapshot: InboxSnapshot) {
        self.init(
            waiting: snapshot.waiting, longest: snapshot.longest.map { WaitingReply($0) },
            oldest: snapshot.oldest?.seconds, leftAlone: snapshot.leftCount,
            left: snapshot.left.map { WaitingReply($0) })
        if case .polling(let pause) = snapshot.watching { poll = pause.seconds }
        paused = snapshot.paused.map { .init($0) }
    }
}

extension WaitingVerb.Pause {
    init(_ failure: Failure) { self.init(code: failure.code, summary: failure.summary, remedy: failure.remedy) }
}

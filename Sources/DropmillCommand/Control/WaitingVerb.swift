import FoundationEssentials
import PipelineEngine
import PipelineKit

/// What waits in every inbox.
enum WaitingVerb: ControlVerb {
    static let name = "waiting"
    /// The daemon waits four seconds for inboxes.
    static let patience = 8

    struct Arguments: Codable, Equatable {
        /// The most waiting drops to report of each inbox.
        var limit: Int
    }

    struct Answer: Codable, Equatable {
        var inboxes: [String: Inbox]
        /// The pipelines whose inboxes have not answered for long: these are not among the others.
        var silent: Set<String> = []
        /// Those whose inboxes have not answered now: they are not among the others either.
        var busy: Set<String> = []
        /// Those that are not loaded any more, and whose jobs others take over as what is under way ends: nil if none.
        var ending: Set<String>?
        /// How many jobs of a pipeline stand otherwise than the journal says, which cannot be written: nil if none.
        var unwritten: [String: Int]?
        /// Where something does not move.
        var stalled: [String: Stalled] = [:]
        /// Whether the daemon is about to end: nil where it is not.
        var stopping: Bool?
    }

    struct Stalled: Codable, Equatable {
        /// Seconds for which it has not moved.
        var time: Double
        var text: String
        /// The job, and the kind of the stage that it is at, where it is one.
        var job: String?
        var stage: String?

        init(_ stall: Stall) {
            (time, text) = (stall.time.seconds, stall.text)
            (job, stage) = (stall.job?.text, stall.stage)
        }
    }

    struct Inbox: Codable, Equatable {
        var waiting: Int
        /// The longest-waiting drops.
        var longest: [WaitingReply]
        /// Seconds for which the one is known that is known for longest.
        var oldest: Double?
        var leftAlone: Int
        var left: [WaitingReply]
        /// The polling interval in seconds, where the kernel does not report changes.
        var poll: Double?
        /// Why nothing is claimed.
        var paused: Pause?

        init(_ snapshot: InboxSnapshot) {
            waiting = snapshot.waiting
            longest = snapshot.longest.map { WaitingReply($0) }
            oldest = snapshot.oldest?.seconds
            leftAlone = snapshot.leftCount
            left = snapshot.left.map { WaitingReply($0) }
            if case .polling(let pause) = snapshot.watching { poll = pause.seconds }
            paused = snapshot.paused.map { Pause(code: $0.code, summary: $0.summary, remedy: $0.remedy) }
        }
    }

    /// Why a pipeline pauses. The journal says it too, but for where it is what cannot be written.
    struct Pause: Codable, Equatable {
        var code: String
        var summary: String
        var remedy: String

        var failure: Failure { Failure(.environment, code: code, summary: summary, remedy: remedy) }
    }
}

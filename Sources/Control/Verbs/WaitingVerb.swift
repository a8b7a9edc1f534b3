import FoundationEssentials
package import PipelineKit

/// What waits in every inbox.
package enum WaitingVerb: ControlVerb {
    package static let name = "waiting"
    /// The daemon waits four seconds for inboxes.
    package static let patience = 8

    package struct Arguments: Codable, Equatable, Sendable {
        /// The most waiting drops to report of each inbox.
        package var limit: Int

        package init(limit: Int) {
            self.limit = limit
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        package var inboxes: [String: Inbox]
        /// The pipelines whose inboxes have not answered for long: these are not among the others.
        package var silent: Set<String> = []
        /// Those whose inboxes have not answered now: they are not among the others either.
        package var busy: Set<String> = []
        /// Those that are not loaded any more, and whose jobs others take over as what is under way ends: nil if none.
        package var ending: Set<String>?
        /// How many jobs of a pipeline stand otherwise than the journal says, which cannot be written: nil if none.
        package var unwritten: [String: Int]?
        /// Where something does not move.
        package var stalled: [String: Stalled] = [:]
        /// What is said of those that are outside their hours: nil if none is.
        package var outside: [String: String]?
        /// Whether the daemon is about to end: nil where it is not.
        package var stopping: Bool?

        package init(
            inboxes: [String: Inbox], silent: Set<String> = [], busy: Set<String> = [], ending: Set<String>? = nil,
            unwritten: [String: Int]? = nil, stalled: [String: Stalled] = [:],
            outside: [String: String]? = nil, stopping: Bool? = nil
        ) {
            self.inboxes = inboxes
            self.silent = silent
            self.busy = busy
            self.ending = ending
            self.unwritten = unwritten
            self.stalled = stalled
            self.outside = outside
            self.stopping = stopping
        }
    }

    package struct Stalled: Codable, Equatable, Sendable {
        /// Seconds for which it has not moved.
        package var time: Double
        package var text: String
        /// The job, and the kind of the stage that it is at, where it is one.
        package var job: String?
        package var stage: String?

        package init(time: Double, text: String, job: String? = nil, stage: String? = nil) {
            self.time = time
            self.text = text
            self.job = job
            self.stage = stage
        }
    }

    package struct Inbox: Codable, Equatable, Sendable {
        package var waiting: Int
        /// The longest-waiting drops.
        package var longest: [WaitingReply]
        /// Seconds for which the one is known that is known for longest.
        package var oldest: Double?
        package var leftAlone: Int
        package var left: [WaitingReply]
        /// The polling interval in seconds, where the kernel does not report changes.
        package var poll: Double?
        /// Why nothing is claimed.
        package var paused: Pause?

        package init(
            waiting: Int, longest: [WaitingReply], oldest: Double? = nil, leftAlone: Int, left: [WaitingReply],
            poll: Double? = nil, paused: Pause? = nil
        ) {
            self.waiting = waiting
            self.longest = longest
            self.oldest = oldest
            self.leftAlone = leftAlone
            self.left = left
            self.poll = poll
            self.paused = paused
        }
    }

    /// Why a pipeline pauses. The journal says it too, but for where it is what cannot be written.
    package struct Pause: Codable, Equatable, Sendable {
        package var code: String
        package var summary: String
        package var remedy: String

        package var failure: Failure { Failure(.environment, code: code, summary: summary, remedy: remedy) }

        package init(code: String, summary: String, remedy: String) {
            self.code = code
            self.summary = summary
            self.remedy = remedy
        }
    }
}

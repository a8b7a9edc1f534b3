import FoundationEssentials
import PipelineEngine
import PipelineKit

/// What the daemon says: one line of JSON.
struct ControlReply: Codable, Equatable {
    /// Something that waits, or is left alone.
    struct Drop: Codable, Equatable {
        /// Its path from the inbox on, in bytes.
        var path: Data
        /// Seconds since it is known.
        var known: Double?
        /// Why it waits: a word that stays the same.
        var code: String
        var text: String
        /// Whether time or a sender will bring what it waits for.
        var waits = true
        /// Whether it is in the work folder already.
        var claimed = false
    }

    struct Inbox: Codable, Equatable {
        var waiting: Int
        /// The longest-waiting drops.
        var longest: [Drop]
        var leftAlone: Int
        var left: [Drop]
        /// The polling interval in seconds, where the kernel does not report changes.
        var poll: Double?
        /// Why nothing is claimed.
        var paused: Pause?

        init(_ snapshot: InboxSnapshot) {
            waiting = snapshot.waiting
            longest = snapshot.longest.map { Drop($0) }
            leftAlone = snapshot.leftCount
            left = snapshot.left.map { Drop($0) }
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

    var inboxes: [String: Inbox]?
    /// For `drop`: the file, where it is known.
    var drop: Drop?
    /// Why there is no answer.
    var problem: String?
}

extension ControlReply.Drop {
    init(_ drop: WaitingDrop) {
        self.init(
            path: Data(drop.path), known: drop.known?.seconds, code: drop.waiting.code, text: drop.waiting.text,
            waits: drop.waiting.isWaiting, claimed: drop.isClaimed)
    }
}

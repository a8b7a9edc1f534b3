import FoundationEssentials
import PipelineEngine
import PipelineKit

/// What is asked of a running daemon: one line of JSON. Nothing can be changed this way.
struct ControlRequest: Codable, Equatable {
    /// What is wanted to know.
    enum Ask: String, Codable {
        /// What waits in every inbox.
        case waiting
        /// What one file waits for.
        case drop
    }

    /// What is wanted to know.
    var ask: Ask
    /// Of those that wait at most so many.
    var limit: Int?
    /// Whose inbox the file is in.
    var pipeline: String?
    /// Its path from the inbox on, in bytes.
    var path: Data?

    /// What waits, of each inbox the first so many.
    static func waiting(limit: Int) -> ControlRequest { ControlRequest(ask: .waiting, limit: limit) }

    /// What one file waits for.
    static func drop(_ path: [UInt8], of pipeline: String) -> ControlRequest {
        ControlRequest(ask: .drop, pipeline: pipeline, path: Data(path))
    }
}

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
        /// The same as a sentence.
        var text: String
        /// Whether time or a sender will bring what it waits for.
        var waits: Bool
        /// Whether it is in the work folder already.
        var claimed: Bool

        init(_ drop: WaitingDrop) {
            path = Data(drop.path)
            known = drop.known?.seconds
            code = drop.waiting.code
            text = drop.waiting.text
            waits = drop.waiting.isWaiting
            claimed = drop.isClaimed
        }
    }

    /// One inbox.
    struct Inbox: Codable, Equatable {
        /// How many drops wait.
        var waiting: Int
        /// Those that have waited longest.
        var longest: [Drop]
        /// How many files are left alone.
        var leftAlone: Int
        /// Some of these.
        var left: [Drop]
        /// Seconds between two looks, where the kernel does not tell of changes.
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

        /// As the journal has it.
        var failure: StageFailure { StageFailure(.environment, code: code, summary: summary, remedy: remedy) }
    }

    /// For `waiting`: the inboxes by pipeline.
    var inboxes: [String: Inbox]?
    /// For `drop`: the file, where it is known.
    var drop: Drop?
    /// Why there is no answer.
    var problem: String?
}

/// One line of JSON, without the newline.
enum ControlLine {
    /// The longest request, in bytes.
    static let longestRequest = 16 << 10
    /// The longest reply, in bytes.
    static let longestReply = 8 << 20

    /// A message as a line.
    static func bytes(of message: some Encodable) -> [UInt8] {
        do {
            return try Array(JSONEncoder().encode(message)) + [UInt8(ascii: "\n")]
        } catch {
            return Array(#"{"problem":"the answer cannot be written down"}"#.utf8) + [UInt8(ascii: "\n")]
        }
    }

    /// The message of a line, or nil where it makes no sense.
    static func message<Message: Decodable>(_ type: Message.Type, of line: [UInt8]) -> Message? {
        do { return try JSONDecoder().decode(type, from: Data(line)) } catch { return nil }
    }
}

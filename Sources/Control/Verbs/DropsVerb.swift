package import FoundationEssentials

/// The drops in the inboxes, page by page, and how many wait for what.
package enum DropsVerb: ControlVerb {
    package static let name = "drops"
    /// The daemon waits four seconds for inboxes.
    package static let patience = WaitingVerb.patience

    /// The most bytes of a pattern.
    package static let longestPattern = 255

    package struct Arguments: Codable, Equatable, Sendable {
        /// Only in this one's inbox.
        package var pipeline: String?
        package var kind: String?
        /// A pattern of names.
        package var name: String?
        /// Where the page before has ended.
        package var after: String?
        /// The same of those that are left alone.
        package var leftAfter: String?
        package var limit: Int?

        package init(
            pipeline: String? = nil, kind: String? = nil, name: String? = nil, after: String? = nil,
            leftAfter: String? = nil, limit: Int? = nil
        ) {
            self.pipeline = pipeline
            self.kind = kind
            self.name = name
            self.after = after
            self.leftAfter = leftAfter
            self.limit = limit
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        /// In the order of the files; those that do not answer are left out.
        package var pipelines: [Pipeline] = []
        /// What is left alone, by pipeline and path.
        package var left: [Drop] = []
        /// What to go on with, where there are more.
        package var leftMore: String?

        package init() {}
    }

    package struct Pipeline: Codable, Equatable, Sendable {
        package var name: String
        /// Whether its drops are folders.
        package var folders: Bool
        /// What holds all of it: a person, or trouble.
        package var hold: BoardPipeline.Hold?
        package var paused: WaitingVerb.Pause?
        /// How many drops wait, and for how many seconds the oldest is known.
        package var waiting: Int
        package var oldest: Double?
        package var complete: Complete
        /// How many wait for what, the most first; of so many of them.
        package var reasons: [Reason]
        package var counted: Int
        package var leftAlone: Int
        package var drops: [Drop]
        /// What to go on with, where there are more.
        package var more: String?

        package init(
            name: String, folders: Bool, waiting: Int, oldest: Double?, complete: Complete, reasons: [Reason],
            counted: Int,
            leftAlone: Int, drops: [Drop], more: String?
        ) {
            self.name = name
            self.folders = folders
            self.waiting = waiting
            self.oldest = oldest
            self.complete = complete
            self.reasons = reasons
            self.counted = counted
            self.leftAlone = leftAlone
            self.drops = drops
            self.more = more
        }
    }

    /// Drops that are complete and wait for room, or for the pipeline.
    package struct Complete: Codable, Equatable, Sendable {
        package var drops: Int
        package var bytes: Int64
        package var oldest: Drop?

        package init(drops: Int, bytes: Int64, oldest: Drop?) {
            (self.drops, self.bytes, self.oldest) = (drops, bytes, oldest)
        }
    }

    package struct Reason: Codable, Equatable, Sendable {
        package var code: String
        package var drops: Int

        package init(code: String, drops: Int) { (self.code, self.drops) = (code, drops) }
    }

    package struct Drop: Codable, Equatable, Sendable {
        package var pipeline: String
        /// From the inbox on, in bytes.
        package var path: Data
        /// Its bytes, as they were seen last.
        package var size: Int64?
        /// Seconds since it is known.
        package var known: Double?
        /// Why it waits, or is left alone: a word that stays the same, and a sentence.
        package var code: String
        package var text: String
        /// Whether it could be claimed, if nothing kept all of them; and whether it is in the work folder already.
        package var complete: Bool
        package var claimed: Bool

        package init(
            pipeline: String, path: Data, size: Int64?, known: Double?, code: String, text: String, complete: Bool,
            claimed: Bool
        ) {
            self.pipeline = pipeline
            self.path = path
            self.size = size
            self.known = known
            self.code = code
            self.text = text
            (self.complete, self.claimed) = (complete, claimed)
        }
    }

    /// How many of each an answer lists at most, and of all pipelines together.
    package static let (most, mostOfAll) = (200, 2000)
}

import Glibc
import PipelineEngine
import PipelineKit
import SystemPackage

/// What is in the inboxes now, as far as it can be told: a daemon that runs says what waits and why; where none runs,
/// the files are counted.
struct InboxLook {
    /// Something that waits, or is left alone.
    struct Drop: Equatable {
        /// Its path from the inbox on, as bytes.
        var path: [UInt8]
        /// Seconds since it is known.
        var known: Double?
        /// Why it waits: a word that stays the same.
        var code: String
        /// The same as a sentence.
        var text: String
        /// Whether it is in the work folder already.
        var claimed = false

        /// The keys of one object: `path`, `known_s`, `why`, `text`, `claimed`.
        func write(_ json: inout JSONText) {
            json.name("path", path)
            if let known { json.seconds("known_s", .seconds(known)) }
            json.text("why", code)
            json.text("text", text)
            json.flag("claimed", claimed)
        }
    }

    /// One inbox.
    struct Inbox: Equatable {
        /// How many drops wait.
        var waiting: Int
        /// Those that have waited longest.
        var longest: [Drop] = []
        /// How many files are left alone.
        var leftAlone = 0
        /// Some of these.
        var left: [Drop] = []
        /// Seconds between two looks, where the kernel does not tell of changes.
        var poll: Double?
    }

    /// The inboxes, by pipeline.
    var inboxes: [String: Inbox] = [:]
    /// Why a daemon that runs does not say what waits.
    var problem: String?

    /// Asks the daemon that holds the folder; of what waits in an inbox the first so many are told.
    static func asking(_ folder: FilePath, limit: Int) -> InboxLook {
        do throws(ControlClient.Problem) {
            let reply = try ControlClient.ask(.waiting(limit: limit), in: folder)
            return InboxLook(inboxes: (reply.inboxes ?? [:]).mapValues { Inbox($0) })
        } catch {
            return InboxLook(problem: error.message)
        }
    }

    /// Counts what lies in the inboxes and may be taken by its name. What `match` says is the daemon's to know.
    static func counting(_ pipelines: [PipelineRecord]) -> InboxLook {
        var look = InboxLook()
        for pipeline in pipelines {
            do throws(IOError) {
                var count = 0
                try Folder.forEachEntry(of: OpenFile.open(pipeline.inbox, O_RDONLY | O_DIRECTORY)) {
                    (name, kind) throws(IOError) in
                    if kind == .regular || kind == .unknown, IgnoredNames.reason(for: name) == nil { count += 1 }
                }
                look.inboxes[pipeline.name] = Inbox(waiting: count)
            } catch {
                // What the journal knew last is told instead, with its time.
            }
        }
        return look
    }
}

extension InboxLook.Drop {
    init(_ drop: ControlReply.Drop) {
        self.init(
            path: Array(drop.path), known: drop.known, code: drop.code, text: drop.text, claimed: drop.claimed)
    }
}

extension InboxLook.Inbox {
    init(_ inbox: ControlReply.Inbox) {
        self.init(
            waiting: inbox.waiting, longest: inbox.longest.map { InboxLook.Drop($0) }, leftAlone: inbox.leftAlone,
            left: inbox.left.map { InboxLook.Drop($0) }, poll: inbox.poll)
    }
}

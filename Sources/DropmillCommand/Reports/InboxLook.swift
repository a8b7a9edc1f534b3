import Control
import Dispatch
import Files
import FolderWatch
import Glibc
import Journal
import PipelineKit
import SystemPackage

/// What is in the inboxes now, as far as that is known: a running daemon reports what waits and why; without one,
/// the files are counted.
struct InboxLook {
    struct Inbox: Equatable {
        var waiting: Int
        /// The longest-waiting drops.
        var longest: [WaitingReply] = []
        var leftAlone = 0
        var left: [WaitingReply] = []
        /// The polling interval in seconds, where the kernel does not report changes.
        var poll: Double?
        /// Whether only names that are never taken were left out, since the pipeline's rules are not known.
        var isRough = false
        /// Why the running daemon claims nothing.
        var paused: Failure?
    }

    var inboxes: [String: Inbox] = [:]
    /// Pipelines of the running daemon whose inboxes have not answered for long.
    var silent: Set<String> = []
    /// Those whose inboxes have not answered now.
    var busy: Set<String> = []
    /// Those whose jobs others take over, as what is under way ends.
    var ending: Set<String> = []
    /// How many of their jobs stand otherwise than the journal says.
    var unwritten: [String: Int] = [:]
    /// Those in which something does not move.
    var stalled: [String: WaitingVerb.Stalled] = [:]
    /// What is said of those that are outside their hours.
    var outside: [String: String] = [:]
    /// Whether the running daemon is about to end.
    var isStopping = false
    /// Why the running daemon does not report what waits.
    var problem: String?

    /// The pipelines of which the daemon runs something; nil where it does not say.
    var loaded: Set<String>? { problem == nil ? Set(inboxes.keys).union(silent).union(busy).union(ending) : nil }

    /// Queries the daemon that holds the folder for the first `limit` waiting drops of each inbox.
    static func asking(_ folder: FilePath, limit: Int) -> InboxLook {
        do throws(ControlClient.Problem) {
            let answer = try ControlClient.ask(WaitingVerb.self, .init(limit: limit), in: folder)
            return InboxLook(
                inboxes: answer.inboxes.mapValues { Inbox($0) }, silent: answer.silent, busy: answer.busy,
                ending: answer.ending ?? [], unwritten: answer.unwritten ?? [:], stalled: answer.stalled,
                outside: answer.outside ?? [:], isStopping: answer.stopping == true)
        } catch {
            return InboxLook(problem: error.message)
        }
    }

    /// Counts what is in the inboxes and taken by name. `rules`: a pipeline as its file describes it now; nil if
    /// unknown.
    static func counting(
        _ records: [PipelineRecord], rules: @escaping @Sendable (PipelineRecord) -> Pipeline?
    ) -> InboxLook {
        var look = InboxLook()
        let lookout = Lookout(label: "dropmill.counting")
        for record in records {
            let counted = lookout.attempt(until: .now() + patience) { mayLook in
                mayLook(record.inbox) ? count(record, rules(record)) : nil
            }
            switch counted {
            case .over(let inbox): look.inboxes[record.name] = inbox
            case .silent: look.silent.insert(record.name)
            }
        }
        return look
    }

    /// How many seconds are waited for an inbox.
    private static let patience = 3.0

    /// Nil where it cannot be read: the journal's last count is shown instead, with its time.
    private static func count(_ record: PipelineRecord, _ rules: Pipeline?) -> Inbox? {
        do throws(IOError) {
            if let pipeline = rules, pipeline.inbox == record.inbox { return Inbox(waiting: try count(pipeline)) }
            let guess = Pipeline(
                name: record.name, source: "", inbox: record.inbox, processed: .delete, failed: record.failed)
            return Inbox(waiting: try count(guess), isRough: true)
        } catch {
            return nil
        }
    }

    private static func count(_ pipeline: Pipeline) throws(IOError) -> Int {
        let inbox = try OpenInbox(pipeline.inbox)
        let rule = pipeline.ready
        var count = 0
        var pending = [InboxFolder.top]
        while let folder = pending.popLast() {
            do throws(IOError) {
                try Folder.forEachEntry(of: try inbox.open(folder).file) { (name, kind) throws(IOError) in
                    if kind == .folder, pipeline.match.enters(name, in: folder) {
                        pending.append(folder.appending(name))
                    } else if kind == (rule.unit == .folder ? .folder : .regular) || kind == .unknown,
                        pipeline.match.verdict(on: name) == .taken, !rule.isMarkerBeside(name)
                    {
                        count += 1
                    }
                }
            } catch {
                // One that is gone, or closed to us, has nothing that could be counted.
                guard !folder.isTop else { throw error }
            }
        }
        return count
    }
}

extension InboxLook.Inbox {
    init(_ inbox: WaitingVerb.Inbox) {
        self.init(
            waiting: inbox.waiting, longest: inbox.longest, leftAlone: inbox.leftAlone,
            left: inbox.left, poll: inbox.poll, paused: inbox.paused?.failure)
    }
}

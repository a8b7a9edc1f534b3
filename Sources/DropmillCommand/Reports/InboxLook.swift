import FolderWatch
import Glibc
import Journal
import PipelineKit
import SystemPackage

/// What is in the inboxes now, as far as it can be told: a daemon that runs says what waits and why; where none runs,
/// the files are counted.
struct InboxLook {
    /// One inbox.
    struct Inbox: Equatable {
        /// How many drops wait.
        var waiting: Int
        /// Those that have waited longest.
        var longest: [ControlReply.Drop] = []
        /// How many files are left alone.
        var leftAlone = 0
        /// Some of these.
        var left: [ControlReply.Drop] = []
        /// Seconds between two looks, where the kernel does not tell of changes.
        var poll: Double?
        /// Whether only names that are never taken were left out, since the pipeline's rules are not known.
        var isRough = false
        /// Why a daemon that runs claims nothing.
        var paused: StageFailure?
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

    /// Counts what lies in the inboxes and is taken by its name. `rules`: a pipeline as its file describes it now; nil
    /// where that cannot be told.
    static func counting(_ records: [PipelineRecord], rules: (PipelineRecord) -> Pipeline?) -> InboxLook {
        var look = InboxLook()
        for record in records {
            do throws(IOError) {
                if let pipeline = rules(record), pipeline.inbox == record.inbox {
                    look.inboxes[record.name] = Inbox(waiting: try count(pipeline))
                } else {
                    let guess = Pipeline(
                        name: record.name, source: "", inbox: record.inbox, processed: .delete, failed: record.failed)
                    look.inboxes[record.name] = Inbox(waiting: try count(guess), isRough: true)
                }
            } catch {
                // What the journal knew last is told instead, with its time.
            }
        }
        return look
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
    init(_ inbox: ControlReply.Inbox) {
        self.init(
            waiting: inbox.waiting, longest: inbox.longest, leftAlone: inbox.leftAlone,
            left: inbox.left, poll: inbox.poll, paused: inbox.paused?.failure)
    }
}

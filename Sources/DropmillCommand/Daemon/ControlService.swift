import Control
@preconcurrency import Dispatch
import Files
import PipelineConfig
import PipelineEngine
import SystemPackage

/// What the running daemon answers on its control socket, and how.
enum ControlService {
    /// The most drops that an answer lists for each inbox.
    private static let mostListed = 1000

    /// Answers from now on; without that the daemon does its work all the same.
    static func open(
        in folder: FilePath, _ engine: Engine, _ reloader: Reloader, _ feed: ControlFeed, _ queue: SendingQueue,
        _ desk: UploadDesk, _ notify: NotifyService, _ prune: PruneService, access: ControlAccess,
        record: ControlRecord,
        warn: @escaping @Sendable (String) -> Void
    ) -> ControlServer? {
        let look = SharedLook(engine)
        let table = ControlTable(
            handlers(engine, reloader, feed) + boards(look, reloader, feed, engine.store) + sending(queue)
                + uploading(desk) + [self.notify(notify), self.prune(prune)],
            access: access, record: record, changed: { @Sendable in look.forget() })
        if let shared = engine.sharedJournal {
            let desk = NodeDesk(shared, table)
            engine.beforeClosing { @Sendable in desk.close($0) }
        }
        do throws(IOError) {
            return try ControlServer.open(in: folder, table)
        } catch {
            warn("\(error); 'status' and other verbs cannot reach this daemon")
            return nil
        }
    }

    private static func handlers(_ engine: Engine, _ reloader: Reloader, _ feed: ControlFeed) -> [ControlHandler] {
        let files = DispatchQueue(label: "dropmill.control.files")
        return [
            waiting(engine), producers(engine), drops(engine), drop(engine), health(engine, reloader), subscribe(feed),
            self.files(reloader, on: files), file(engine, reloader, on: files), preview(engine),
            reload(reloader), hold(engine), cancel(engine), release(engine), bump(engine),
        ] + reading(engine.reading)
    }

    private static func waiting(_ engine: Engine) -> ControlHandler {
        ControlHandler(WaitingVerb.self) { @Sendable arguments, _, reply in
            engine.reportWaiting(limit: min(max(0, arguments.limit), mostListed)) { @Sendable report in
                reply(
                    .success(
                        .init(
                            inboxes: report.inboxes.mapValues { WaitingVerb.Inbox($0) }, silent: report.silent,
                            busy: report.busy, ending: report.ending.isEmpty ? nil : report.ending,
                            unwritten: report.unwritten.isEmpty ? nil : report.unwritten,
                            stalled: report.stalled.mapValues { WaitingVerb.Stalled($0) },
                            outside: report.outside.isEmpty ? nil : report.outside.mapValues { $0.text(at: .now()) },
                            stopping: report.isStopping ? true : nil)))
            }
        }
    }

    private static func drop(_ engine: Engine) -> ControlHandler {
        ControlHandler(DropVerb.self) { @Sendable arguments, _, reply in
            engine.reportWaiting(Array(arguments.path), of: arguments.pipeline) { @Sendable drop in
                reply(.success(.init(drop: drop.map { WaitingReply($0) })))
            }
        }
    }

    private static func subscribe(_ feed: ControlFeed) -> ControlHandler {
        ControlHandler(SubscribeVerb.self) { @Sendable arguments, _, reply in
            feed.answer(arguments) { @Sendable in reply(.success($0)) }
        }
    }
}

extension ControlAccess {
    init(_ settings: ServiceSettings) {
        self.init(group: settings.controlGroup, groupMayChange: settings.controlGroupMay == .change)
    }
}

extension ControlFeed {
    /// Notes what happened, as the log says it.
    func note(_ event: EngineEvent) {
        note {
            let record = LogRecord(event, namesPipeline: true)
            func text(_ key: String) -> String? {
                guard case .text(let text) = record.fields.first(where: { $0.key == key })?.value else { return nil }
                return text
            }
            return Change(
                number: 0, at: Timestamp.now().nanoseconds, event: record.event, message: record.message,
                pipeline: text("pipeline"), job: text("job"), code: text("code"))
        }
    }
}

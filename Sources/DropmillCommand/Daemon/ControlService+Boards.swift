import Control
import Journal

extension ControlService {
    /// What monitors and the page ask again and again.
    static func boards(
        _ look: SharedLook, _ reloader: Reloader, _ feed: ControlFeed, _ journal: any JournalStore
    ) -> [ControlHandler] {
        let metrics = MetricsBoard(look, reloader, journal)
        let page = PageBoard(look, reloader, run: feed.run)
        return [
            ControlHandler(MetricsVerb.self) { @Sendable arguments, _, reply in
                look.queue.async { @Sendable in
                    reply(Result { () throws(ControlProblem) in try metrics.answer(arguments) })
                }
            },
            ControlHandler(BoardVerb.self) { @Sendable _, _, reply in
                look.queue.async { @Sendable in reply(.success(page.answer)) }
            },
        ]
    }
}

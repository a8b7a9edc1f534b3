package import Journal

extension Engine {
    /// The journal with all that was noted of jobs until now; nil where the engine does not run. Blocks.
    package nonisolated func upToDateJournal() throws(JournalError) -> (any Journal)? {
        guard let opened = sync({ $0.opened }) else { return nil }
        try opened.writer.flush()
        return opened.journal
    }

    /// What sends originals in once more; nil where the engine does not run. Blocks.
    package nonisolated func resubmission(
        _ kind: Resubmission.Kind = .retry, isStopped: @escaping () -> Bool = { false }
    ) throws(JournalError) -> Resubmission? {
        let (opened, loaded) = sync { ($0.opened, $0.runners.map(\.pipeline)) }
        guard let opened else { return nil }
        try opened.writer.flush()
        return try Resubmission(opened.journal, kind, loaded: loaded, isStopped: isStopped)
    }

    /// Has the body called before the journal is closed, which waits until it has called back.
    package nonisolated func beforeClosing(
        _ body: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
    ) {
        enqueue { $0.whenClosing.append(body) }
    }
}

import Control
@preconcurrency import Dispatch
import Files
import Journal

extension ControlService {
    /// The most records that a request may leave out before those that it asks for: they are read all the same.
    private static let mostSkipped = 10_000

    /// What the journal says.
    static func reading(_ journal: (any JournalReading)?) -> [ControlHandler] {
        guard let journal else { return [] }
        let reader = Reader(journal: journal)
        return [
            reader.handler(StatusVerb.self, status), reader.handler(JobsVerb.self, jobs),
            reader.handler(AuditVerb.self, audit), reader.handler(FailuresVerb.self, failures),
        ]
    }

    @Sendable private static func status(
        _ arguments: Nothing, _ reader: Reader
    ) throws(ControlProblem) -> StatusVerb.Answer {
        try reader.read { journal throws(JournalError) in
            var answer = StatusVerb.Answer(
                run: try journal.lastRun().flatMap { run in JSONValue { $0.run(run) } },
                pipelines: try journal.pipelines().compactMap { record in JSONValue { $0.pipeline(record) } },
                counts: try journal.counts().compactMap { count in JSONValue { $0.count(count) } },
                holds: try journal.holds().compactMap { hold in JSONValue { $0.hold(hold) } })
            answer.node = (journal as? any SharedJournal)?.node
            return answer
        }
    }

    @Sendable private static func jobs(
        _ arguments: JobsVerb.Arguments, _ reader: Reader
    ) throws(ControlProblem) -> RecordPage {
        let (limit, skip) = (try RecordPage.limit(arguments.limit), arguments.skip ?? 0)
        guard (0...mostSkipped).contains(skip) else {
            throw ControlProblem("'skip' is 0 to \(mostSkipped); go on with 'until' instead")
        }
        var query = try arguments.query()
        query.limit = skip + limit + 1
        let found = try reader.read { [query] journal throws(JournalError) in try journal.page(query) }
        var page = try RecordPage(found.jobs.dropFirst(skip), limit: limit) { $0.job($1) }
        if !page.more, let horizon = found.horizon { (page.more, page.horizon) = (true, horizon.nanoseconds) }
        return page
    }

    @Sendable private static func failures(
        _ arguments: FailuresVerb.Arguments, _ reader: Reader
    ) throws(ControlProblem) -> FailuresVerb.Answer {
        let since = arguments.since.map { Timestamp(nanoseconds: $0) }
        return .init(
            try reader.read { journal throws(JournalError) in
                try journal.failureGroups(of: arguments.pipeline, since: since, at: .now())
            })
    }

    @Sendable private static func audit(
        _ arguments: AuditVerb.Arguments, _ reader: Reader
    ) throws(ControlProblem) -> RecordPage {
        let limit = try RecordPage.limit(arguments.limit)
        let entries = try reader.read { journal throws(JournalError) in
            try journal.audit(arguments.query(limit: limit + 1))
        }
        return try RecordPage(entries, limit: limit) { $0.audit($1) }
    }
}

/// Reads for one answer after another, on a queue of its own: a long query holds up no other verb, and leaves the
/// engine one of the two that may read at once. After each nobody reads for as long again, so that the journal's log
/// comes to an end however much is asked.
private struct Reader: Sendable {
    let journal: any JournalReading
    private let queue = DispatchQueue(label: "dropmill.control.journal")
    private let rest = DispatchQueue(label: "dropmill.control.rest")

    init(journal: any JournalReading) { self.journal = journal }

    func handler<Verb: ControlVerb>(
        _ verb: Verb.Type,
        _ answer: @escaping @Sendable (Verb.Arguments, Reader) throws(ControlProblem) -> Verb.Answer
    ) -> ControlHandler {
        ControlHandler(verb) { @Sendable arguments, _, reply in
            queue.async { @Sendable in
                reply(Result { () throws(ControlProblem) in try answer(arguments, self) })
            }
        }
    }

    /// On its queue.
    func read<Value>(
        _ body: (any JournalReading) throws(JournalError) -> Value
    ) throws(ControlProblem) -> Value {
        let begin = MonotonicTime.now()
        defer {
            queue.suspend()
            rest.after(MonotonicTime.now() - begin) { @Sendable [queue] in queue.resume() }
        }
        do throws(JournalError) { return try body(journal) } catch { throw ControlProblem(error.message) }
    }
}

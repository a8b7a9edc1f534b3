import Control
import Files
import Journal
import PipelineKit

/// How `dismiss` is carried out: by the daemon, or by the verb where none runs.
extension DismissVerb {
    static func carryOut(
        _ order: SendingOrder, in journal: any Journal, by person: String
    ) throws(JournalError) -> Swift.Result<Answer, ControlProblem> {
        let query: JobQuery
        do throws(ControlProblem) { query = try openFailures(order) } catch { return .failure(error) }
        let dismissal = Dismissal(by: person, at: .now())
        guard order.names else {
            let found = try journal.jobs(query)
            let most = most(of: order)
            let dismissed = try journal.dismiss(open: Array(found.prefix(most)), dismissal)
            let results = dismissed.map { Result(job: $0.text, isDismissed: true, text: Dismissing.dismissed.text) }
            return .success(Answer(results: results, more: found.count > most))
        }
        var (ids, problems) = ([JobID](), [Result]())
        for text in order.jobs ?? [] {
            switch try JobFinder.find(text, in: journal) {
            case .found(let record): if !ids.contains(record.id) { ids.append(record.id) }
            case .nothing(let problem):
                problems.append(
                    Result(job: EscapedText.of(RawArguments.bytes(of: text)), isDismissed: false, text: problem))
            }
        }
        let outcomes = try journal.dismiss(ids, dismissal)
        let results = zip(ids, outcomes).map { Result(job: $0.text, isDismissed: $1.isDismissed, text: $1.text) }
        return .success(Answer(results: results + problems))
    }

    /// What would be dismissed, and why others that are named would not. `limit`: of what filters choose.
    static func find(
        _ order: SendingOrder, in journal: any JournalReading, limit: Int? = nil
    ) throws(JournalError) -> Swift.Result<(records: [JobRecord], refusals: [String]), ControlProblem> {
        var query: JobQuery
        do throws(ControlProblem) { query = try openFailures(order) } catch { return .failure(error) }
        query.limit = limit
        guard order.names else { return .success((try journal.jobs(query), [])) }
        var (records, refusals) = ([JobRecord](), [String]())
        for text in order.jobs ?? [] {
            switch try JobFinder.find(text, in: journal) {
            case .nothing(let problem): refusals.append(problem)
            case .found(let record):
                guard let obstacle = try journal.obstacle(toDismissing: record.id) else {
                    records.append(record)
                    continue
                }
                refusals.append("\(record.id.text): \(obstacle.text)")
            }
        }
        return .success((records, refusals))
    }

    /// The same, for those who ask a daemon. Calls the body with the jobs.
    static func rehearse(
        _ order: SendingOrder, in journal: any JournalReading, _ body: ([JobID]) -> Void
    ) throws(JournalError) -> Swift.Result<DismissibleVerb.Answer, ControlProblem> {
        let most = most(of: order)
        return try find(order, in: journal, limit: most + 1).map { records, _ in
            let found = Array(records.prefix(most))
            body(found.map(\.id))
            return DismissibleVerb.Answer(found: JobSummary(found), more: !order.names && records.count > most)
        }
    }

    /// What an order's filters choose, and one more than are dismissed at once.
    static func openFailures(_ order: SendingOrder) throws(ControlProblem) -> JobQuery {
        var query = try order.query()
        (query.states, query.isOpen, query.limit) = ([.failed], true, most(of: order) + 1)
        return query
    }

    private static func most(of order: SendingOrder) -> Int { min(order.limit ?? most, most) }
}

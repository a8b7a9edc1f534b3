import Glibc
import Journal
import PipelineKit

extension StateFolder {
    /// Changes these jobs, on record before that is done; then with what it says of itself.
    func change<Result>(
        _ verb: String, _ jobs: [JobRecord], in journal: any Journal,
        _ body: () throws(JournalError) -> (Result, said: String)
    ) throws(JournalError) -> Result {
        let trail = journal as? any AuditTrail
        let arguments = ControlLine.text(of: ["jobs": jobs.map { $0.id.text }])
        let entry = AuditEntry(user: geteuid(), name: AccountName.user(geteuid()), verb: verb, arguments: arguments)
        let number = try trail?.beginAudit(entry)
        let (result, said) = try body()
        if let number { try trail?.endAudit(number, result: said) }
        return result
    }
}

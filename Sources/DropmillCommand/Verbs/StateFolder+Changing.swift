import Control
import Glibc
import Journal
import PipelineKit

extension StateFolder {
    /// Changes something, on record with its arguments before that is done; then with what it says of itself.
    func change<Result>(
        _ verb: String, _ arguments: some Encodable, in journal: any Journal,
        _ body: () throws(JournalError) -> (Result, said: String)
    ) throws(JournalError) -> Result {
        let trail = journal as? any AuditTrail
        let entry = AuditEntry(
            user: geteuid(), name: AccountName.user(geteuid()), verb: verb, arguments: ControlLine.text(of: arguments))
        let number = try trail?.beginAudit(entry)
        let (result, said) = try body()
        if let number { try trail?.endAudit(number, result: said) }
        return result
    }
}

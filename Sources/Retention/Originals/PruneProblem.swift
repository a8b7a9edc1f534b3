import Files
import Journal

/// What ends a step.
enum PruneProblem: Error {
    case journal(JournalError)
    case folder(IOError)

    static func journal<Value>(
        _ body: () throws(JournalError) -> Value
    ) throws(PruneProblem) -> Value {
        do throws(JournalError) { return try body() } catch { throw .journal(error) }
    }

    static func folder<Value>(
        _ body: () throws(IOError) -> Value
    ) throws(PruneProblem) -> Value {
        do throws(IOError) { return try body() } catch { throw .folder(error) }
    }
}

package import PipelineKit

/// Why an inbox cannot be watched now.
package enum WatchError: Error, Sendable {
    /// It cannot be opened or listed.
    case io(IOError)
    /// It is not the folder that it should be, as whoever has it watched found out.
    case away(code: String, summary: String, remedy: String)
}

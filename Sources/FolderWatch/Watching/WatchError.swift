package import Files

/// Why an inbox cannot be watched now.
package enum WatchError: Error, Sendable {
    /// It cannot be opened or listed.
    case io(IOError)
    /// It is not the expected folder, as the owner's check found.
    case away(code: String, summary: String, remedy: String)
}

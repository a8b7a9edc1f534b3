/// A job that was another node's until now.
package struct TakenJob: Sendable, Equatable {
    package let record: JobRecord
    /// How often it has changed hands: its folder here is named after that.
    package let token: Int64

    package init(_ record: JobRecord, token: Int64) { (self.record, self.token) = (record, token) }
}

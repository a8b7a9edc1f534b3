/// A request: one line of JSON.
struct ControlRequest<Arguments: Codable>: Codable {
    /// The protocol's.
    var version = ControlLine.version
    /// Comes back with what is said to it.
    var id: UInt64
    var verb: String
    var arguments: Arguments
}

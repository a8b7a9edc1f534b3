package import Journal

/// A request: one line of JSON.
package struct ControlRequest<Arguments: Codable>: Codable {
    /// The protocol's.
    package var version = ControlLine.version
    /// Comes back with what is said to it.
    package var id: UInt64
    package var verb: String
    package var arguments: Arguments
    /// For whom it is asked; nil where who asks is who wants it.
    package var `for`: Behalf?

    package init(
        version: Int = ControlLine.version, id: UInt64, verb: String, arguments: Arguments, for behalf: Behalf? = nil
    ) {
        self.version = version
        self.id = id
        self.verb = verb
        self.arguments = arguments
        self.for = behalf
    }
}

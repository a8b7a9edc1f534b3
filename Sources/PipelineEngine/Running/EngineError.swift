/// Why an engine cannot start: a sentence with its remedy.
package struct EngineError: Error, Sendable {
    /// What kind of trouble it is.
    package typealias Kind = FolderError.Kind

    package let kind: Kind
    package let message: String

    init(kind: Kind, message: String) {
        self.kind = kind
        self.message = message
    }

    /// What is asked for cannot be had now, or in this way.
    static func refused(_ message: String) -> EngineError { EngineError(kind: .configuration, message: message) }

    /// A folder that cannot be used prevents the start.
    init(_ error: FolderError) { self.init(kind: error.kind, message: error.message) }

    /// Does something with folders that a start needs.
    static func wrapping<Value>(_ body: () throws(FolderError) -> Value) throws(EngineError) -> Value {
        do throws(FolderError) { return try body() } catch { throw EngineError(error) }
    }
}

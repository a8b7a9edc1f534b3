/// Why nothing can be served at an address: a sentence, with its remedy.
package struct ListenError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// A watched folder or file.
package struct Watch: Hashable, Sendable {
    let number: Int
}

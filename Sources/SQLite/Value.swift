/// What a column of a row holds, or a parameter of a statement is given.
package enum Value: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// Where it is an integer.
    package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    /// Where it is a text.
    package var text: String? { if case .text(let text) = self { text } else { nil } }
}

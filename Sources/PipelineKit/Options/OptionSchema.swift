/// The shape of what an option takes: as much as an editor needs to complete and to check it.
package indirect enum OptionSchema: Sendable, Hashable {
    /// A text; numbers and truth values are texts too where one is taken.
    case text
    /// The same, of this form, a regular expression.
    case pattern(String)
    /// `true` or `false`.
    case flag
    /// Permission bits: a text of this form, a regular expression, or a number of such digits, which are octal.
    case mode(String, ClosedRange<Int>)
    /// A whole number.
    case integer(ClosedRange<Int>)
    /// A number of bytes such as `10MiB`.
    case size
    /// The same, and not zero.
    case someSize
    /// A time such as `15m`.
    case duration
    /// The same, and not zero.
    case time
    /// One of some words.
    case choice([String])
    /// A text of this form, a regular expression.
    case form(String)
    /// The one or the other.
    case either(OptionSchema, OptionSchema)
    /// One, or a list of them, which may be empty.
    case anyNumber(OptionSchema)
    /// One, or a list of at least one.
    case oneOrMore(OptionSchema)
    /// One, or a list of at least one, none of them twice.
    case distinct(OptionSchema)
    /// A map of any keys.
    case map(OptionSchema)
}

/// The shape of what an option takes: as much as an editor needs to complete and to check it.
package indirect enum OptionSchema: Sendable, Hashable {
    /// A text; numbers and truth values are texts too where one is taken.
    case text
    /// `true` or `false`.
    case flag
    /// A whole number.
    case integer(ClosedRange<Int>)
    /// A number of bytes such as `10MiB`.
    case size
    /// A time such as `15m`.
    case duration
    /// One of some words.
    case choice([String])
    /// One, or a list of them.
    case oneOrMore(OptionSchema)
    /// A map of any keys.
    case map(OptionSchema)
}

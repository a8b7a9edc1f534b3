/// What a format found in a file of its kind.
enum Finding: Equatable {
    case whole
    case lacks(Lack)
    /// It cannot tell: a part of several, of a length that nothing announces, or too much to be looked at.
    case unclear
}

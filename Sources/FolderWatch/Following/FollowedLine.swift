/// A line that was appended to a file.
public struct FollowedLine: Sendable, Hashable {
    /// Its bytes without the newline. They need not be UTF-8.
    public let bytes: [UInt8]
    /// Whether a newline ended it. It did not where the file was truncated or replaced before one came, nor where this
    /// is a part of a line that is too long: its rest comes next.
    public let isComplete: Bool
    /// Whether this is the first line of another file, which has the name now.
    public let isReopened: Bool
    /// Whether the file was truncated or rewritten, so that this is from its beginning.
    public let isTruncated: Bool
    /// Where this line ends, its newline included.
    public let checkpoint: FollowCheckpoint

    /// The line as text; what is not UTF-8 is replaced with U+FFFD.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Bytes that were appended to a file.
public struct FollowedBytes: Sendable, Hashable {
    /// At most 64 KiB. None where there is nothing to tell but that the file was truncated.
    public let bytes: [UInt8]
    /// Whether these are the first bytes of another file, which has the name now.
    public let isReopened: Bool
    /// Whether the file was truncated or rewritten, so that these are from its beginning.
    public let isTruncated: Bool
    /// Where these bytes end.
    public let checkpoint: FollowCheckpoint
    /// Where they begin.
    let start: FollowCheckpoint
}

import Files

/// Where a follower is in a file, to go on from there later, also in another process.
public struct FollowCheckpoint: Sendable, Hashable, Codable {
    /// The file's inode (st_ino), by which it is found once it is renamed.
    public let inode: UInt64
    /// How many bytes of it have been told.
    public let offset: Int64
    /// The bytes before the offset: 64, or all where there are fewer. A file that has others there was rewritten.
    public let tail: [UInt8]

    static let longestTail = 64

    init(inode: UInt64, offset: Int64 = 0, tail: [UInt8] = []) {
        self.inode = inode
        self.offset = offset
        self.tail = tail
    }

    /// Whether a follower may have made it: it is decoded from whatever was stored.
    var isSound: Bool { offset >= 0 && tail.count == Int(min(offset, Int64(Self.longestTail))) }

    /// Behind bytes that follow.
    func advanced(by bytes: some Collection<UInt8>) -> FollowCheckpoint {
        let kept = max(0, Self.longestTail - bytes.count)
        return FollowCheckpoint(
            inode: inode, offset: offset.addingSaturated(Int64(bytes.count)),
            tail: tail.suffix(kept) + bytes.suffix(Self.longestTail))
    }
}

package import Files
package import Glibc
import PipelineKit

/// What a processed original looked like where it was left. Not on which device: that has another number after a mount.
package struct OriginalState: Sendable, Equatable {
    package var inode: UInt64
    package var size: Int64
    package var modified: FileTime

    package init(_ status: stat) {
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = FileTime(status.st_mtim)
    }

    private init(inode: UInt64, size: Int64, modified: FileTime) {
        (self.inode, self.size, self.modified) = (inode, size, modified)
    }
}

extension JSONText {
    package mutating func original(_ state: OriginalState) {
        object { json in
            json.integer("inode", state.inode)
            json.integer("size", state.size)
            json.integer("seconds", state.modified.seconds)
            json.integer("nanoseconds", Int64(state.modified.nanoseconds))
        }
    }
}

extension JSONValue {
    package var original: OriginalState? { OriginalState(self) }
}

extension OriginalState {
    fileprivate init?(_ value: JSONValue) {
        guard let object = value.object, let inode = object["inode"]?.integer(UInt64.self),
            let size = object["size"]?.integer(Int64.self), let seconds = object["seconds"]?.integer(Int.self),
            let nanoseconds = object["nanoseconds"]?.integer(Int.self)
        else { return nil }
        self.init(inode: inode, size: size, modified: FileTime(seconds: seconds, nanoseconds: nanoseconds))
    }
}

package import Files
package import Glibc
import PipelineKit

/// What an original looked like where it was left. Not on which device: that has another number after a mount.
package struct OriginalState: Sendable, Equatable {
    /// A file beside it that belongs to it.
    package struct Side: Sendable, Equatable {
        package var name: FileName
        package var file: FileState

        package init(_ name: FileName, _ file: FileState) { (self.name, self.file) = (name, file) }
    }

    package var file: FileState
    /// Of a folder: when it was brought there, by the file system's clock (its ctime). What is in it and was changed
    /// later is not as it was left.
    package var moved: FileTime?
    package var sides: [Side]
    /// The inodes of the folders that were made for it, from the one that holds it upwards.
    package var made: [UInt64]

    package init(_ file: FileState, moved: FileTime? = nil, sides: [Side] = [], made: [UInt64] = []) {
        (self.file, self.moved, self.sides, self.made) = (file, moved, sides, made)
    }

    /// As it is now.
    package init(_ status: stat) {
        let isFolder = FileKind(mode: status.st_mode) == .folder
        self.init(FileState(status), moved: isFolder ? FileTime(status.st_ctim) : nil)
    }
}

extension JSONText {
    package mutating func original(_ state: OriginalState) {
        object { json in
            json.members(of: state.file)
            if let moved = state.moved { json.object("moved") { $0.members(of: moved) } }
            if !state.sides.isEmpty {
                json.array("sides") { json in
                    for side in state.sides {
                        json.object { json in
                            json.bytes("name", side.name.bytes)
                            json.members(of: side.file)
                        }
                    }
                }
            }
            if !state.made.isEmpty {
                json.array("made") { json in
                    for inode in state.made { json.integer(nil, inode) }
                }
            }
        }
    }

    private mutating func members(of file: FileState) {
        integer("inode", file.inode)
        integer("size", file.size)
        members(of: file.modified)
    }

    private mutating func members(of time: FileTime) {
        integer("seconds", time.seconds)
        integer("nanoseconds", Int64(time.nanoseconds))
    }
}

extension JSONValue {
    package var original: OriginalState? {
        guard let object, let file else { return nil }
        var state = OriginalState(file)
        if let moved = object["moved"] {
            guard let time = moved.fileTime else { return nil }
            state.moved = time
        }
        if let sides = object["sides"] {
            guard let all = sides.all(\.side) else { return nil }
            state.sides = all
        }
        if let made = object["made"] {
            guard let all = made.all({ $0.integer(UInt64.self) }) else { return nil }
            state.made = all
        }
        return state
    }

    private var side: OriginalState.Side? {
        guard let name = object?["name"]?.bytes.flatMap({ FileName($0) }), let file else { return nil }
        return OriginalState.Side(name, file)
    }

    private var file: FileState? {
        guard let object, let inode = object["inode"]?.integer(UInt64.self),
            let size = object["size"]?.integer(Int64.self), let time = fileTime
        else { return nil }
        return FileState(inode: inode, size: size, modified: time)
    }

    private var fileTime: FileTime? {
        guard let object, let seconds = object["seconds"]?.integer(Int.self),
            let nanoseconds = object["nanoseconds"]?.integer(Int.self)
        else { return nil }
        return FileTime(seconds: seconds, nanoseconds: nanoseconds)
    }
}

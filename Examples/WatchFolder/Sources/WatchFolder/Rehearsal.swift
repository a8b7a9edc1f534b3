import FolderWatch
import Foundation

/// Something to see: a new folder in which one thing after the other happens.
final class Rehearsal {
    private let place: URL
    private let inside: URL
    private var steps: ArraySlice<(Rehearsal) throws -> Void> = [
        {
            try FileManager.default.createDirectory(
                at: $0.inside.appending(path: "sub"), withIntermediateDirectories: false)
        },
        // Made elsewhere, so that it is there as a whole at once.
        {
            try Data("one\n".utf8).write(to: $0.place.appending(path: "note.txt"))
            try FileManager.default.moveItem(
                at: $0.place.appending(path: "note.txt"), to: $0.inside.appending(path: "note.txt"))
        },
        {
            let file = try FileHandle(forWritingTo: $0.inside.appending(path: "note.txt"))
            try file.seekToEnd()
            try file.write(contentsOf: Data("two\n".utf8))
        },
        { try FileManager.default.removeItem(at: $0.inside.appending(path: "note.txt")) },
    ]

    init() throws {
        place = FileManager.default.temporaryDirectory.appending(path: "watch-\(UUID().uuidString)")
        inside = place.appending(path: "inside")
        try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: true)
    }

    var folder: FilePath { FilePath(inside.path()) }

    /// Does the next thing; false where there is none.
    func goOn() throws -> Bool {
        try steps.popFirst()?(self) != nil
    }

    func clean() { try? FileManager.default.removeItem(at: place) }
}

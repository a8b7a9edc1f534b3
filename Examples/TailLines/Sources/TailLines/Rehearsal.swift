import FolderWatch
import Foundation

/// Something to see: a new log to which one thing after the other happens.
final class Rehearsal {
    private let place: URL
    private let log: URL
    private var steps: ArraySlice<(Rehearsal) throws -> Void> = [
        { try $0.append("the second\n") },
        // As logrotate does it.
        {
            try FileManager.default.moveItem(at: $0.log, to: $0.place.appending(path: "app.log.1"))
            try Data("the third\n".utf8).write(to: $0.log)
        },
        // As logrotate does it where it is told `copytruncate`.
        {
            try FileHandle(forWritingTo: $0.log).truncate(atOffset: 0)
            try $0.append("the last\n")
        },
    ]

    init() throws {
        place = FileManager.default.temporaryDirectory.appending(path: "tail-\(UUID().uuidString)")
        log = place.appending(path: "app.log")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data("the first\n".utf8).write(to: log)
    }

    var file: FilePath { FilePath(log.path()) }

    /// Does the next thing; false where there is none.
    func goOn() throws -> Bool {
        try steps.popFirst()?(self) != nil
    }

    func clean() { try? FileManager.default.removeItem(at: place) }

    private func append(_ line: String) throws {
        let file = try FileHandle(forWritingTo: log)
        try file.seekToEnd()
        try file.write(contentsOf: Data(line.utf8))
    }
}

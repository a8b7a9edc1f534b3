import FolderWatch
import Foundation

/// Prints what is deleted from a folder, inserted into it and changed in it. Without one it watches a folder of its own,
/// in which it does something itself after each difference.
@main
struct WatchFolder {
    static func main() async throws {
        let rehearsal = CommandLine.arguments.count > 1 ? nil : try Rehearsal()
        defer { rehearsal?.clean() }
        let monitor = FolderMonitor(rehearsal?.folder ?? FilePath(CommandLine.arguments[1]))
        try monitor.start()
        defer { monitor.stop() }
        for await difference in monitor.differences {
            if difference.isInitial { print("\(difference.inserted.count) entries") }
            for entry in difference.deleted { print("- \(entry)") }
            for entry in difference.inserted { print("+ \(entry), \(text(entry))") }
            for entry in difference.changed { print("~ \(entry), \(text(entry))") }
            if try rehearsal?.goOn() == false { break }
        }
    }

    private static func text(_ entry: FolderEntry) -> String {
        entry.kind == .file ? "\(entry.size) bytes" : "\(entry.kind)"
    }
}

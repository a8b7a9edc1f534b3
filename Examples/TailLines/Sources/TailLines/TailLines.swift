import FolderWatch
import Foundation

/// Prints lines as they are appended to a file. Without one it follows a file of its own, and does something to it
/// after each line.
@main
struct TailLines {
    static func main() async throws {
        let rehearsal = CommandLine.arguments.count > 1 ? nil : try Rehearsal()
        defer { rehearsal?.clean() }
        let follower =
            if let rehearsal {
                FileFollower(rehearsal.file, from: .start)
            } else {
                FileFollower(FilePath(CommandLine.arguments[1]))
            }
        try follower.start()
        defer { follower.stop() }
        for await line in follower.lines {
            print("\(line.isReopened ? "[reopened] " : "")\(line.isTruncated ? "[truncated] " : "")\(line.text)")
            if try rehearsal?.goOn() == false { break }
        }
    }
}

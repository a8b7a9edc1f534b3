import CLinux
import Files
import Glibc
import PipelineKit
import SystemPackage

/// A file in the shared work folder with a random word in it, which is on record, too: a node that does not find it
/// there looks at another share than the others.
enum ShareToken {
    static let name = "share"

    /// Whether it is the file, or one that was about to become it.
    static func isName(_ name: FileName) -> Bool {
        let parts = name.text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.first.map { $0 == Self.name } == true
            && (parts.count == 1 || parts.count == 2 && UInt64(parts[1], radix: 36) != nil)
    }

    /// Long enough for what network file systems remember of a folder.
    private static let patience = Duration.seconds(60)

    /// Waits until the word is found that is on record, or makes it so where none is. `record`: puts a word on record
    /// where none is, and returns which is.
    static func check(
        in work: FilePath, of pipeline: Pipeline, patience: Duration = patience,
        record: (String) throws -> String
    ) throws {
        let file = work.appending(name)
        let proposed = try read(file) ?? make(file)
        let token = try record(proposed)
        guard token != proposed else { return }
        let end = MonotonicTime.now() + patience
        while try read(file) != token {
            guard MonotonicTime.now() < end else { throw other(pipeline, file) }
            usleep(pause)
        }
    }

    /// Microseconds between two looks.
    private static let pause: useconds_t = 200_000

    private static func read(_ file: FilePath) throws(IOError) -> String? {
        guard Folder.kind(of: file) == .regular else { return nil }
        return String(decoding: try SmallFile.read(file, atMost: 100), as: UTF8.self)
    }

    /// That of another node, where that was quicker.
    private static func make(_ file: FilePath) throws(IOError) -> String {
        let token = String(UInt64.random(in: .min ... .max), radix: 36)
        let draft = file.removingLastComponent().appending("\(name).\(token)")
        let open = try OpenFile.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        try open.write(Array(token.utf8))
        try open.close()
        do throws(IOError) {
            try NoReplace.rename(draft, to: file)
        } catch {
            try Folder.remove(draft)
            guard error.errno == .fileExists else { throw error }
        }
        return try read(file) ?? token
    }

    private static func other(_ pipeline: Pipeline, _ file: FilePath) -> FolderError {
        FolderError(
            kind: .configuration,
            message: "\(pipeline.source.text): the share is not the one that the other nodes have: '\(file.text)' is "
                + "not the file that they see (share.other); mount the same folder on all hosts, or give this one a "
                + "journal of its own")
    }
}

package import Files
package import Glibc
import PipelineKit
package import SystemPackage

/// One run of the real program, its standard output and error in a file.
package struct DropmillProcess {
    /// The binary: `$DROPMILL_BINARY`, else the one that was built with the tests.
    package static let binary: FilePath =
        getenv("DROPMILL_BINARY").map { FilePath(String(cString: $0)) } ?? built("dropmill")

    /// A program of this package, in the folder of the test program itself, where SwiftPM puts them all (on Linux the
    /// test bundle is the running program, `/proc/self/exe`).
    package static func built(_ name: String) -> FilePath {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let program = FilePath(bytes: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) })
        return program.removingLastComponent().appending(name)
    }

    /// An optimised build of these sources: the one at hand, else what `make release` made and is not out of date. What
    /// is measured of any other tells nothing.
    package static let optimised: FilePath? = {
        #if DEBUG
            let root = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
            let folder = root.appending(".build-release")
            guard let made = FileStatus.of(folder.appending("made")).map({ FileTime($0.st_mtim) }) else { return nil }
            let sources = root.appending("Sources")
            do throws(IOError) {
                let isOld = try FileTree.list(sources).files.contains { file in
                    FileStatus.of(sources.pushing(file.relative)).map { FileTime($0.st_mtim) > made } ?? true
                }
                return isOld ? nil : folder.pushing("release/dropmill")
            } catch {
                return nil
            }
        #else
            return binary
        #endif
    }()

    /// The number of its process.
    package var id: Int32 { process }
    private var process: pid_t { ending.process }
    private let log: FilePath
    private let ending: Ending

    /// How it ended: its exit status, or 128 + the signal; nil while it runs.
    package private(set) var status: Int32? {
        didSet { ending.isOver = status != nil }
    }

    /// Ends a process that a failing test leaves behind.
    private final class Ending {
        let process: pid_t
        var isOver = false

        init(_ process: pid_t) { self.process = process }

        deinit {
            guard !isOver else { return }
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
    }

    /// Starts the program in a folder; what it writes goes to the file `log`. `wrapper`: a program, with its arguments,
    /// that starts it.
    package init(
        _ arguments: [String], in folder: FilePath, log: FilePath, wrapper: [String] = [], of program: FilePath = binary
    ) throws(IOError) {
        let output = try OpenFile.open(log, O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
        let words = wrapper + [program.string] + arguments
        ending = Ending(
            try ChildProcess.spawn(
                FilePath(words[0]), words.dropFirst().map { Array($0.utf8) }, output: output.descriptor,
                error: output.descriptor, folder: folder))
        self.log = log
    }

    /// What it has written so far.
    package func text() throws(IOError) -> String { String(decoding: try ScratchFolder.read(log), as: UTF8.self) }

    /// The end of what it has written, for messages.
    package var transcript: String {
        do throws(IOError) { return String(try text().suffix(3000)) } catch { return "\(error)" }
    }

    /// Whether it has written a log line of the event that holds the text, in JSON.
    package func hasLogged(_ event: String, _ text: String = "") throws(IOError) -> Bool {
        try self.text().split(separator: "\n").contains {
            $0.contains("\"event\":\"\(event)\"") && (text.isEmpty || $0.contains(text))
        }
    }

    /// Whether a signal waits for it to ask for that (proc_pid_status(5)). What comes while the loader is still at work
    /// ends any process.
    package func holdsBack(_ signal: Int32) throws(IOError) -> Bool {
        let file = FilePath("/proc/\(process)/status")
        let lines = String(decoding: try ScratchFolder.read(file), as: UTF8.self).split(separator: "\n")
        guard let digits = lines.first(where: { $0.hasPrefix("SigBlk:") })?.split(separator: "\t").last,
            let mask = UInt64(digits, radix: 16)
        else { return false }
        return mask & (1 << UInt64(signal - 1)) != 0
    }

    /// Whether it has ended.
    package mutating func hasEnded() throws(IOError) -> Bool {
        if status == nil { status = try ChildProcess.poll(process, of: Self.binary) }
        return status != nil
    }

    /// Sends a signal, unless it has ended.
    package mutating func send(_ signal: Int32) throws(IOError) {
        guard try !hasEnded() else { return }
        kill(process, signal)
    }

    /// Ends it at once and waits for that.
    package mutating func end() throws(IOError) {
        try send(SIGKILL)
        _ = try wait()
    }

    /// Waits for its end and returns how it ended, with what it used. Blocks the calling thread.
    package mutating func waitCounting() throws(IOError) -> (status: Int32, usage: rusage) {
        let (ended, usage) = try ChildProcess.waitCounting(for: process, of: Self.binary)
        status = ended
        return (ended, usage)
    }

    /// Waits for its end and returns how it ended. Blocks the calling thread.
    package mutating func wait() throws(IOError) -> Int32 {
        if let status { return status }
        let ended = try ChildProcess.wait(for: process, of: Self.binary)
        status = ended
        return ended
    }
}

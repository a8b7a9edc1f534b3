import Glibc
import PipelineKit
import SystemPackage
import TestSupport

/// One run of the real program, its standard output and error in a file.
struct DropmillProcess {
    /// The binary: `$DROPMILL_BINARY`, else `dropmill` in the folder of the test program itself, where SwiftPM puts
    /// both (on Linux the test bundle is the running program, `/proc/self/exe`).
    static let binary: FilePath = {
        if let path = getenv("DROPMILL_BINARY") { return FilePath(String(cString: path)) }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let program = FilePath(bytes: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) })
        return program.removingLastComponent().appending("dropmill")
    }()

    private let process: pid_t
    private let log: FilePath
    private(set) var status: Int32?

    /// Starts the program in a folder; what it writes goes to the file `log`.
    init(_ arguments: [String], in folder: FilePath, log: FilePath) throws(IOError) {
        let output = try OpenFile.open(log, O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
        process = try ChildProcess.spawn(
            Self.binary, arguments.map { Array($0.utf8) }, output: output.descriptor, error: output.descriptor,
            folder: folder)
        self.log = log
    }

    /// What it has written so far.
    func text() throws(IOError) -> String { String(decoding: try ScratchFolder.read(log), as: UTF8.self) }

    /// Whether it has ended.
    mutating func hasEnded() throws(IOError) -> Bool {
        if status == nil { status = try ChildProcess.poll(process, of: Self.binary) }
        return status != nil
    }

    /// Sends a signal, unless it has ended.
    mutating func send(_ signal: Int32) throws(IOError) {
        guard try !hasEnded() else { return }
        kill(process, signal)
    }

    /// Ends it at once and waits for that.
    mutating func end() throws(IOError) {
        guard try !hasEnded() else { return }
        kill(process, SIGKILL)
        status = try ChildProcess.wait(for: process, of: Self.binary)
    }
}

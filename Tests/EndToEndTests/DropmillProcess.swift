import Glibc
import PipelineKit
import SystemPackage
import TestSupport

/// One run of the real program, its standard output and error in a file.
struct DropmillProcess {
    private let process: pid_t
    private let log: FilePath
    private(set) var status: Int32?

    /// Starts the program in a folder; what it writes goes to the file `log`.
    init(_ arguments: [String], in folder: FilePath, log: FilePath) throws(IOError) {
        let output = try OpenFile.open(log, O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
        process = try ChildProcess.spawn(
            DropmillBinary.path, arguments.map { Array($0.utf8) }, output: output.descriptor, error: output.descriptor,
            folder: folder)
        self.log = log
    }

    /// What it has written so far.
    func text() throws(IOError) -> String { String(decoding: try ScratchFolder.read(log), as: UTF8.self) }

    /// Whether it has ended.
    mutating func hasEnded() throws(IOError) -> Bool {
        if status == nil { status = try ChildProcess.poll(process, of: DropmillBinary.path) }
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
        status = try ChildProcess.wait(for: process, of: DropmillBinary.path)
    }
}

import Files
import Glibc
import SystemPackage
import TestSupport

/// A run of Tests/stranger, as a user without any right but the senders' group. Ends with the last reference.
final class Stranger {
    static let program = DropmillProcess.built("stranger")

    private let process: pid_t
    private let log: FilePath
    private let from: Int
    private var status: Int32?

    init(_ words: [String], as sender: Sender, log: FilePath) throws {
        let output = try OpenFile.open(log, O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
        from = try ScratchFolder.read(log).count
        let all = ["\(sender.rawValue)", "\(Sender.group)"] + words
        process = try ChildProcess.spawn(
            Self.program, all.map { Array($0.utf8) }, output: output.descriptor, error: output.descriptor)
        self.log = log
    }

    /// What it has said since it began.
    var text: String {
        get throws { String(decoding: try ScratchFolder.read(log).dropFirst(from), as: UTF8.self) }
    }

    /// The same for messages.
    var transcript: String {
        do { return try text } catch { return "\(error)" }
    }

    /// Waits until it has said something; false where it ended without.
    func says(_ words: String) async throws -> Bool {
        _ = try await eventually { try text.contains(words) || hasEnded() }
        return try text.contains(words)
    }

    private func hasEnded() throws -> Bool {
        if status == nil { status = try ChildProcess.poll(process, of: Self.program) }
        return status != nil
    }

    /// Waits for its own end; returns what it said.
    func end() async throws -> String {
        _ = try await eventually { try hasEnded() }
        return try text
    }

    /// Tells it to stop; returns what it said.
    @discardableResult
    func stop() async throws -> String {
        if try !hasEnded() { kill(process, SIGTERM) }
        return try await end()
    }

    deinit {
        guard status == nil else { return }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    /// A number that it said behind a word: `rounds 17`.
    static func number(_ word: String, in text: String) -> Int {
        let words = text.split { $0 == " " || $0 == "\n" }
        guard let index = words.firstIndex(of: word[...]), index + 1 < words.count else { return 0 }
        return Int(words[index + 1]) ?? 0
    }
}

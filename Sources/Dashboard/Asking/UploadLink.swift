import Control
import Digests
@preconcurrency import Dispatch
import Files
import HTTPTypes
import HummingbirdCore
import Journal
import NIOCore
import SystemPackage

/// A file that passes from a request to the descriptor that the daemon gave for it. What comes is written on a queue
/// of its own, few pieces at a time: no more is read than the disk takes.
struct UploadLink: Sendable {
    /// How many buffers, or bytes, are written at once. A buffer may hold more memory than bytes.
    private static let mostBuffers = 4, mostBytes = 256 << 10
    /// How long a sender may bring next to nothing, and how many bytes are more than that.
    private static let patience = Duration.seconds(60), least = 64 << 10

    private let writer: UploadWriter
    private let size: Int64
    private let subject: String

    init(to writer: UploadWriter, size: Int64, subject: String) {
        (self.writer, self.size, self.subject) = (writer, size, subject)
    }

    /// `digest`: what it must have, if that is said; `subject`: what it is called in messages; `turn`: of
    /// those that begin, which the daemon serves few of.
    static func begin(
        _ arguments: ReceiveVerb.Arguments, for behalf: Behalf, digest: [UInt8]?, subject: String, in folder: FilePath,
        turn: Permits
    ) async throws -> UploadLink {
        let queue = DispatchQueue(label: "dropmill.dashboard.upload")
        let connection = try await connect(
            arguments, for: behalf, subject: subject, in: folder, turn: turn, on: queue)
        return UploadLink(
            to: try UploadWriter(connection, on: queue, hashes: digest), size: arguments.size, subject: subject)
    }

    /// Has the daemon take something; blocks on the queue.
    static func connect(
        _ arguments: ReceiveVerb.Arguments, for behalf: Behalf, subject: String, in folder: FilePath, turn: Permits,
        on queue: DispatchQueue
    ) async throws(Problem) -> UploadConnection {
        await turn.take()
        let begun = await queue.result { () throws(ControlClient.Problem) in
            try UploadConnection.begin(arguments, for: behalf, in: folder)
        }
        turn.give()
        switch begun {
        case .success(.success(let connection)): return connection
        case .success(.failure(let refusal)): throw Problem(refusal, subject: subject)
        case .failure(let problem): throw Problem(problem, isChange: true)
        }
    }

    /// Passes all of it on, and has it end.
    func send(_ body: RequestBody) async throws {
        var buffers: [ByteBuffer] = []
        var (pending, count) = (0, Int64(0))
        var window = (began: MonotonicTime.now(), bytes: 0)
        do {
            for try await buffer in body {
                let bytes = buffer.readableBytes
                count += Int64(bytes)
                guard count <= size else { throw Self.otherLength(count, size, subject) }
                buffers.append(buffer)
                pending += bytes
                window.bytes += bytes
                let now = MonotonicTime.now()
                if now - window.began >= Self.patience {
                    guard window.bytes >= Self.least else { throw Self.tooSlow(subject) }
                    window = (now, 0)
                }
                guard buffers.count >= Self.mostBuffers || pending >= Self.mostBytes else { continue }
                try await writer.write(buffers)
                (buffers, pending) = ([], 0)
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Self.otherLength(count, size, subject)
        }
        guard count == size else { throw Self.otherLength(count, size, subject) }
        try await writer.finish(with: buffers, subject)
    }

    private static func otherLength(_ count: Int64, _ size: Int64, _ subject: String) -> Problem {
        Problem(
            .badRequest, "upload.length", "\(count) bytes have come, and \(size) were announced", subject: subject,
            remedy: "Send it again, whole.")
    }

    private static func tooSlow(_ subject: String) -> Problem {
        Problem(
            .requestTimeout, "upload.slow", "less than \(least >> 10) KiB have come within a minute", subject: subject,
            remedy: "Send it again over a better connection.")
    }
}

import Control
import Digests
@preconcurrency import Dispatch
import Files
import HTTPTypes
import NIOCore
import Synchronization
import SystemPackage

/// Writes the pieces of one upload in order, a few behind who reads them. Its own queue's.
final class UploadWriter: Sendable {
    /// How many pieces may wait.
    private static let mostWaiting = 2
    /// How often the daemon is told that more is coming.
    private static let interval = Duration.seconds(10)
    /// After so many bytes the kernel is to begin to bring them to the disk.
    private static let writeback: Int64 = 32 << 20

    private struct State: ~Copyable {
        var written: Int64 = 0
        var handed: Int64 = 0
        var noted = MonotonicTime.now()
        var hash: DigestContext?
    }

    /// How it ends.
    enum End: Sendable {
        /// It gets its name.
        case whole
        /// More files follow; so many bytes have come before it.
        case part(Int64)

        var before: Int64 { if case .part(let count) = self { count } else { 0 } }
    }

    private let connection: UploadConnection
    private let end: End
    private let queue: DispatchQueue
    private let digest: [UInt8]?
    private let places = Permits(mostWaiting)
    /// The queue's alone: a disk that does not answer is waited for with it.
    private let state: Mutex<State>
    /// Why nothing more is written.
    private let problem = Mutex<Problem?>(nil)

    /// `digest`: what the whole must have as its SHA-256; nil: anything.
    init(
        _ connection: UploadConnection, on queue: DispatchQueue, hashes digest: [UInt8]?, end: End = .whole
    ) throws(DigestError) {
        (self.connection, self.queue, self.digest, self.end) = (connection, queue, digest, end)
        state = Mutex(State(hash: digest == nil ? nil : try DigestContext.start(.sha256)))
    }

    /// Has it written; waits while much else is still to be.
    func write(_ buffers: [ByteBuffer]) async throws(Problem) {
        await places.take()
        if let problem = problem.withLock({ $0 }) {
            places.give()
            throw problem
        }
        queue.async { @Sendable [self] in
            state.withLock { put(buffers, &$0) }
            places.give()
        }
    }

    /// Writes the rest, and has it end.
    func finish(with buffers: [ByteBuffer], _ subject: String) async throws(Problem) {
        let outcome = await queue.result { @Sendable [self] () throws(Problem) in
            try state.withLock { state in
                put(buffers, &state)
                return Result { () throws(Problem) in try check(&state, subject) }
            }.get()
            switch end {
            case .whole: try connection.name(subject)
            case .part: connection.closeFile()
            }
        }
        try outcome.get()
    }

    private func put(_ buffers: [ByteBuffer], _ state: inout State) {
        guard problem.withLock({ $0 == nil }) else { return }
        do throws(Problem) {
            for buffer in buffers {
                try buffer.withUnsafeReadableBytes { bytes throws(Problem) in try put(bytes, &state) }
            }
            if state.written - state.handed >= Self.writeback {
                connection.beginWriteback(from: state.handed, count: state.written - state.handed)
                state.handed = state.written
            }
            guard .now() - state.noted >= Self.interval else { return }
            state.noted = .now()
            do throws(ControlClient.Problem) {
                try connection.note(size: end.before.addingSaturated(state.written))
            } catch {
                throw Problem(error, isChange: true)
            }
        } catch {
            problem.withLock { $0 = error }
        }
    }

    private func put(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws(Problem) {
        do throws(Files.IOError) {
            try connection.write(bytes)
        } catch {
            let isFull = error.errno == .noSpace || error.errno == .diskQuotaExceeded
            throw Problem(
                isFull ? .noSpace : .serviceUnavailable, isFull ? "space.floor" : "upload.failed",
                "it cannot be written: \(error.errno)", subject: "inbox",
                remedy: isFull ? "Free space there, or send a smaller file." : "Try again once that is fixed.")
        }
        state.written += Int64(bytes.count)
        do throws(DigestError) { try state.hash?.update(bytes) } catch { throw Self.noHash(error) }
    }

    private func check(_ state: inout State, _ subject: String) throws(Problem) {
        if let problem = problem.withLock({ $0 }) { throw problem }
        guard let digest else { return }
        let found: [UInt8]?
        do throws(DigestError) { found = try state.hash?.finish().bytes } catch { throw Self.noHash(error) }
        guard found == digest else {
            throw Problem(
                .unprocessableContent, "upload.digest", "its content has not the digest that was sent with it",
                subject: subject, remedy: "Send it again, or with its right digest.")
        }
    }

    private static func noHash(_ error: DigestError) -> Problem {
        Problem(
            .internalServerError, "internal", "its digest cannot be made: \(error.description)",
            remedy: "Send it without a digest.")
    }
}

extension UploadConnection {
    /// Has what came get its name.
    func name(_ subject: String) throws(Problem) {
        let refusal: ReceiveVerb.Refusal?
        do throws(ControlClient.Problem) { refusal = try finish() } catch { throw Problem(error, isChange: true) }
        if let refusal { throw Problem(refusal, subject: subject) }
    }
}

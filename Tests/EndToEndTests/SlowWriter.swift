import Dispatch
import Files
import Glibc
import SystemPackage

/// Somebody who writes a file piece by piece, held open or opened anew for each piece. It has a thread of its own: a
/// writer that had to wait for the other tests would fall silent for longer than the scenario says.
// @unchecked: every `var` below is touched on `queue` only.
final class SlowWriter: @unchecked Sendable {
    private let path: FilePath
    private let pieces: Int
    private let piece: [UInt8]
    private let isReopening: Bool
    private let queue = DispatchQueue(label: "scenario.writer", qos: .userInteractive)
    private var timer: (any DispatchSourceTimer)?
    private var held: OpenFile?
    private var written = 0
    private var done: CheckedContinuation<Void, any Error>?

    init(_ path: FilePath, pieces: Int, of piece: [UInt8], reopened: Bool) {
        self.path = path
        self.pieces = pieces
        self.piece = piece
        isReopening = reopened
    }

    /// Writes all of it. Between two pieces the file must stay where it is: a program that takes it early is caught.
    func write(every interval: Duration) async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { @Sendable [self] in
                done = continuation
                let timer = DispatchSource.makeTimerSource(queue: queue)
                timer.schedule(deadline: .now(), repeating: .nanoseconds(Int(interval.nanoseconds)))
                timer.setEventHandler { @Sendable [self] in tick() }
                self.timer = timer
                timer.activate()
            }
        }
    }

    private func tick() {
        do {
            if written > 0, Folder.kind(of: path) == nil {
                throw ScenarioMismatch("'\(path.lastName?.text ?? "")' was taken after \(written) of \(pieces) pieces")
            }
            try writePiece()
            written += 1
            if written == pieces { end(.success(())) }
        } catch {
            end(.failure(error))
        }
    }

    private func writePiece() throws(IOError) {
        if held == nil {
            held = try OpenFile.open(path, O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
        }
        try held?.write(piece)
        if isReopening { held = nil }
    }

    private func end(_ result: Result<Void, any Error>) {
        timer?.cancel()
        timer = nil
        held = nil
        done?.resume(with: result)
        done = nil
    }
}

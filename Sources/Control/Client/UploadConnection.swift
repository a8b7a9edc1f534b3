import CLinux
package import Files
import Glibc
package import Journal
import Synchronization
package import SystemPackage

/// A file that a running daemon takes into an inbox: written to the descriptor that it gave, then finished. Where it is
/// not, nothing is left of it. Blocks; one call at a time.
package final class UploadConnection: Sendable {
    private let socket: Int32
    /// Nil once it is closed.
    private let file: Mutex<Int32?>

    private init(_ socket: Int32, _ file: Int32) {
        self.socket = socket
        self.file = Mutex(file)
    }

    deinit {
        closeFile()
        close(socket)
    }

    /// Begins one with the daemon of this state folder, or says why that takes it not.
    package static func begin(
        _ arguments: ReceiveVerb.Arguments, for behalf: Behalf? = nil, in folder: FilePath
    ) throws(ControlClient.Problem) -> Result<UploadConnection, ReceiveVerb.Refusal> {
        try ControlClient.tryingAgain { () throws(ControlClient.Problem) in
            let socket = try ControlClient.connect(in: folder)
            var file: Int32 = -1
            do throws(ControlClient.Problem) {
                let answer = try ControlClient.exchange(
                    ReceiveVerb.self, arguments, for: behalf, on: socket, taking: &file)
                if answer.refusal == nil, file < 0 {
                    throw ControlClient.Problem(message: "the daemon passed no descriptor with its answer")
                }
                if let refusal = answer.refusal {
                    if file >= 0 { close(file) }
                    close(socket)
                    return .failure(refusal)
                }
                return .success(UploadConnection(socket, file))
            } catch {
                if file >= 0 { close(file) }
                close(socket)
                throw error
            }
        }
    }

    /// Writes all of it behind what was written.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(IOError) {
        guard let file = file.withLock({ $0 }) else { throw IOError("write", FilePath(), .badFileDescriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let slice = UnsafeRawBufferPointer(rebasing: rest)
            let count = retrying { Glibc.write(file, slice.baseAddress, slice.count) }
            guard count >= 0 else { throw IOError("write", FilePath(), .last) }
            rest = rest.dropFirst(count)
        }
    }

    /// Has the kernel begin to bring to the disk what was written from there on, so that there is little left to do in
    /// the end.
    package func beginWriteback(from offset: Int64, count: Int64) {
        if let file = file.withLock({ $0 }) { _ = dm_begin_writeback(file, offset, count) }
    }

    /// Tells the daemon that it is still coming.
    package func note(size: Int64) throws(ControlClient.Problem) {
        _ = try ControlClient.exchange(ReceivingVerb.self, .init(size: size), on: socket)
    }

    /// Has it get its name. Nothing can be written any more.
    package func finish() throws(ControlClient.Problem) -> ReceiveVerb.Refusal? {
        closeFile()
        return try ControlClient.exchange(ReceivedVerb.self, Nothing(), on: socket).refusal
    }

    private func closeFile() {
        let open = file.withLock { file in
            defer { file = nil }
            return file
        }
        if let open { close(open) }
    }
}

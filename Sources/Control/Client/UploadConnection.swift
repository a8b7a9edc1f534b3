import CLinux
package import Files
import Glibc
package import Journal
import Synchronization
package import SystemPackage

/// A file that a running daemon takes into an inbox: written to the descriptor that it gave, then finished; or a
/// folder, whose files come so one after another. Where it is not finished, nothing is left of it. Blocks; one call at
/// a time, but for `abandon`.
package final class UploadConnection: Sendable {
    private let socket: Int32
    /// Nil as long as none is open.
    private let file: Mutex<Int32?>

    private init(_ socket: Int32, _ file: Int32?) {
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
            do throws(ControlClient.Problem) {
                let (refusal, file) = try open(
                    ReceiveVerb.self, arguments, for: behalf, on: socket, isFile: arguments.files == nil)
                if let refusal {
                    close(socket)
                    return .failure(refusal)
                }
                return .success(UploadConnection(socket, file))
            } catch {
                close(socket)
                throw error
            }
        }
    }

    /// Begins a file of the folder that this is, or without a size makes a folder in it. Says why that is not taken.
    package func part(
        _ arguments: ReceivePartVerb.Arguments
    ) throws(ControlClient.Problem) -> ReceiveVerb.Refusal? {
        closeFile()
        let (refusal, opened) = try Self.open(
            ReceivePartVerb.self, arguments, on: socket, isFile: arguments.size != nil)
        file.withLock { $0 = opened }
        return refusal
    }

    /// Asks for something that is answered with a descriptor where it is a file.
    private static func open<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments, for behalf: Behalf? = nil, on socket: Int32, isFile: Bool
    ) throws(ControlClient.Problem) -> (ReceiveVerb.Refusal?, file: Int32?)
    where Verb.Answer == ReceiveVerb.Answer {
        var file: Int32 = -1
        var isTaken = false
        defer { if file >= 0, !isTaken { close(file) } }
        let answer = try ControlClient.exchange(verb, arguments, for: behalf, on: socket, taking: &file)
        if let refusal = answer.refusal { return (refusal, nil) }
        guard isFile else { return (nil, nil) }
        guard file >= 0 else {
            throw ControlClient.Problem(message: "the daemon passed no descriptor with its answer")
        }
        isTaken = true
        return (nil, file)
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

    /// It is not finished, whoever uses it.
    package func abandon() { shutdown(socket, Int32(SHUT_RDWR)) }

    /// No more of the file comes.
    package func closeFile() {
        let open = file.withLock { file in
            defer { file = nil }
            return file
        }
        if let open { close(open) }
    }
}

import CLinux
import Control
@preconcurrency import Dispatch
import Files
import Glibc

/// One client: hears lines, one at a time, and is sent lines. The server's own.
final class ControlConnection {
    /// Calls the body with the connection on the server's queue, while the server knows it.
    typealias Isolated = @Sendable (_ body: @Sendable (ControlConnection) -> Void) -> Void

    /// Closed when neither the connection nor its sources are left.
    private final class Descriptor: Sendable {
        let number: Int32
        init(_ number: Int32) { self.number = number }
        deinit { _ = Glibc.close(number) }
    }

    /// A source that rests for a while. (One that is cancelled takes the kernel's word from the next one of the same
    /// descriptor with it.)
    private final class Pausable {
        private let source: any DispatchSourceProtocol
        private var isResting = false

        init(_ source: any DispatchSourceProtocol) {
            self.source = source
            source.activate()
        }

        func rest(_ rests: Bool) {
            guard rests != isResting else { return }
            isResting = rests
            if rests { source.suspend() } else { source.resume() }
        }

        /// For good; a source that rests would never be told.
        func cancel() {
            source.cancel()
            rest(false)
        }
    }

    /// How long an answer may take; who asks gives up before.
    private static let longestAnswer = Duration.seconds(120)

    let peer: ControlPeer
    /// What verbs leave with it.
    let tie = ControlTie()
    private let descriptor: Descriptor
    private let queue: DispatchQueue
    private let isolated: Isolated
    private let heard: ([UInt8]) -> Void
    private let over: () -> Void
    private var reading: Pausable?
    private var writing: Pausable?
    /// What has come and is not a whole line, or is a line that waits for its turn.
    private var input: [UInt8] = []
    private var output: ArraySlice<UInt8> = []
    /// What goes out with the first byte of it.
    private var file: HandedFile?
    /// A line was heard, and what is said to it has not come, or is not sent to its end.
    private var isAsked = false
    private var isLast = false
    private var isClosed = false
    /// When something was heard or could be sent.
    private var moved = MonotonicTime.now()

    /// `heard` is called with each line, the next one once there was an answer; `over` when the connection is.
    init(
        _ descriptor: Int32, _ peer: ControlPeer, queue: DispatchQueue, isolated: @escaping Isolated,
        heard: @escaping ([UInt8]) -> Void, over: @escaping () -> Void
    ) {
        self.descriptor = Descriptor(descriptor)
        self.peer = peer
        self.queue = queue
        self.isolated = isolated
        self.heard = heard
        self.over = over
    }

    func begin() { listen() }

    /// Whether it has done nothing for so long while nothing was due from us, or so very long that nothing comes.
    func isIdle(for patience: Duration) -> Bool {
        let idle = MonotonicTime.now() - moved
        return idle >= patience && (!isAsked || !output.isEmpty) || idle >= Self.longestAnswer
    }

    /// Sends the answer to the line that was heard last. `isLast`: closes then.
    func send(_ bytes: [UInt8], isLast: Bool = false) {
        guard !isClosed, isAsked, output.isEmpty else { return }
        self.isLast = isLast
        moved = .now()
        output = bytes[...]
        file = tie.takeFile()
        // Most of them go out at once, also where this is about to be closed.
        write()
        if !isClosed, !output.isEmpty { startWriting() }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        reading?.cancel()
        writing?.cancel()
        (reading, writing, file) = (nil, nil, nil)
        tie.close()
        over()
    }

    private func listen() {
        guard !isClosed, !isAsked, !takeLine() else { return }
        if let reading { return reading.rest(false) }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor.number, queue: queue)
        source.setEventHandler { @Sendable [isolated] in isolated { $0.read() } }
        source.setCancelHandler { @Sendable [descriptor] in withExtendedLifetime(descriptor) {} }
        reading = Pausable(source)
    }

    /// Hands on the first line that is there. Nothing more is read until it is answered.
    private func takeLine() -> Bool {
        guard let end = input.firstIndex(of: UInt8(ascii: "\n")) else { return false }
        let line = Array(input[..<end])
        input.removeSubrange(...end)
        isAsked = true
        heard(line)
        return true
    }

    private func read() {
        guard !isClosed else { return }
        if isAsked { return lookForEnd() }
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        let count = recv(descriptor.number, &piece, piece.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return close() }
        moved = .now()
        input += piece[..<count]
        guard !takeLine(), input.count > ControlLine.longestRequest else { return }
        isAsked = true
        let problem = ControlProblem("a request has \(ControlLine.longestRequest >> 10) KiB at most")
        send(ControlLine.bytes(of: ControlReply<Nothing>(nil, problem)), isLast: true)
    }

    /// As long as an answer is due nothing is read: of one that is gone nothing is, and it makes room.
    private func lookForEnd() {
        var look = pollfd(fd: descriptor.number, events: 0, revents: 0)
        poll(&look, 1, 0)
        if look.revents & Int16(POLLHUP) != 0 { close() } else { reading?.rest(true) }
    }

    private func startWriting() {
        if let writing { return writing.rest(false) }
        let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor.number, queue: queue)
        source.setEventHandler { @Sendable [isolated] in isolated { $0.write() } }
        source.setCancelHandler { @Sendable [descriptor] in withExtendedLifetime(descriptor) {} }
        writing = Pausable(source)
    }

    private func write() {
        guard !isClosed, !output.isEmpty else { return }
        let count = output.withUnsafeBytes { bytes in
            if let file {
                dm_send_descriptor(descriptor.number, bytes.baseAddress, bytes.count, file.file.descriptor)
            } else {
                Glibc.send(descriptor.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
        }
        if count < 0 {
            if errno != EAGAIN && errno != EINTR { close() }
            return
        }
        moved = .now()
        file = nil
        output = output.dropFirst(count)
        guard output.isEmpty else { return }
        output = []
        writing?.rest(true)
        isAsked = false
        if isLast { close() } else { listen() }
    }
}

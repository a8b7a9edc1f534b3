@preconcurrency import Dispatch
import Glibc

/// One client: hears one line, is sent one, and is gone. The server's own.
final class ControlConnection {
    /// Calls the body with the connection on the server's queue, while the server knows it.
    typealias Isolated = @Sendable (_ body: @Sendable (ControlConnection) -> Void) -> Void

    /// Closed when neither the connection nor its sources are left.
    private final class Descriptor: Sendable {
        let number: Int32
        init(_ number: Int32) { self.number = number }
        deinit { _ = Glibc.close(number) }
    }

    private let descriptor: Descriptor
    private let queue: DispatchQueue
    private let isolated: Isolated
    private let heard: ([UInt8]) -> Void
    private let over: () -> Void
    private var reading: (any DispatchSourceRead)?
    private var writing: (any DispatchSourceWrite)?
    private var line: [UInt8] = []
    private var rest: ArraySlice<UInt8> = []
    private var isClosed = false

    /// `heard` is called once, with the line; `over` when the connection is.
    init(
        _ descriptor: Int32, queue: DispatchQueue, isolated: @escaping Isolated, heard: @escaping ([UInt8]) -> Void,
        over: @escaping () -> Void
    ) {
        self.descriptor = Descriptor(descriptor)
        self.queue = queue
        self.isolated = isolated
        self.heard = heard
        self.over = over
    }

    func begin() {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor.number, queue: queue)
        source.setEventHandler { @Sendable [isolated] in isolated { $0.read() } }
        source.setCancelHandler { @Sendable [descriptor] in withExtendedLifetime(descriptor) {} }
        reading = source
        source.activate()
    }

    /// Sends a line, then closes.
    func send(_ bytes: [UInt8]) {
        guard !isClosed, writing == nil else { return }
        rest = bytes[...]
        let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor.number, queue: queue)
        source.setEventHandler { @Sendable [isolated] in isolated { $0.write() } }
        source.setCancelHandler { @Sendable [descriptor] in withExtendedLifetime(descriptor) {} }
        writing = source
        source.activate()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        reading?.cancel()
        writing?.cancel()
        over()
    }

    private func read() {
        guard !isClosed, writing == nil else { return }
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor.number, &piece, piece.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return close() }
        line += piece[..<count]
        guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else {
            if line.count > ControlLine.longestRequest { close() }
            return
        }
        // One question for each connection; what follows it is not read.
        reading?.cancel()
        heard(Array(line[..<end]))
    }

    private func write() {
        guard !isClosed else { return }
        let count = rest.withUnsafeBytes {
            Glibc.send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count < 0 {
            if errno != EAGAIN && errno != EINTR { close() }
            return
        }
        rest = rest.dropFirst(count)
        if rest.isEmpty { close() }
    }
}

@preconcurrency import Dispatch
import Glibc
import PipelineKit

/// One client: hears one line, is sent one, and is gone. All of it lives on the server's queue.
// @unchecked: every `var` below is touched on the server's queue only.
final class ControlConnection: @unchecked Sendable {
    private let descriptor: Int32
    private let queue: DispatchQueue
    private let heard: ([UInt8]) -> Void
    private let over: () -> Void
    private var reading: (any DispatchSourceRead)?
    private var writing: (any DispatchSourceWrite)?
    private var line: [UInt8] = []
    private var rest: ArraySlice<UInt8> = []
    private var isClosed = false
    /// Sources that look at the descriptor: only the last one's end may close it.
    private var sources = 0

    /// `heard` is called once, with the line; `over` when the connection is.
    init(
        _ descriptor: Int32, queue: DispatchQueue, heard: @escaping ([UInt8]) -> Void, over: @escaping () -> Void
    ) {
        self.descriptor = descriptor
        self.queue = queue
        self.heard = heard
        self.over = over
    }

    /// Begins to listen.
    func begin() {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { @Sendable [self] in read() }
        source.setCancelHandler { @Sendable [self] in sourceEnded() }
        sources += 1
        reading = source
        source.activate()
    }

    /// Sends a line, then closes.
    func send(_ bytes: [UInt8]) {
        guard !isClosed, writing == nil else { return }
        rest = bytes[...]
        let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { @Sendable [self] in write() }
        source.setCancelHandler { @Sendable [self] in sourceEnded() }
        sources += 1
        writing = source
        source.activate()
    }

    /// Ends it.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        reading?.cancel()
        writing?.cancel()
        over()
        if sources == 0 { letGo() }
    }

    private func sourceEnded() {
        sources -= 1
        if sources == 0, isClosed { letGo() }
    }

    private func letGo() {
        reading = nil
        writing = nil
        _ = Glibc.close(descriptor)
    }

    private func read() {
        guard !isClosed, writing == nil else { return }
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &piece, piece.count, 0)
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
        let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count < 0 {
            if errno != EAGAIN && errno != EINTR { close() }
            return
        }
        rest = rest.dropFirst(count)
        if rest.isEmpty { close() }
    }
}

import Synchronization

/// What one browser is still to be sent. One that does not keep up is cut off: it comes back, and begins anew.
final class EventStream: Sendable {
    /// The most bytes that wait for a reader.
    static let most = 1 << 20

    private struct State {
        var waiting: [[UInt8]] = []
        var size = 0
        var isOver = false
        var reader: CheckedContinuation<[UInt8]?, Never>?
    }

    private let state = Mutex(State())

    /// Gives it what follows; false where it is cut off.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        let (reader, isOpen) = state.withLock { state -> (CheckedContinuation<[UInt8]?, Never>?, Bool) in
            guard !state.isOver else { return (nil, false) }
            if let reader = state.reader {
                state.reader = nil
                return (reader, true)
            }
            guard state.size + bytes.count <= Self.most else {
                state.isOver = true
                (state.waiting, state.size) = ([], 0)
                return (nil, false)
            }
            state.waiting.append(bytes)
            state.size += bytes.count
            return (nil, true)
        }
        reader?.resume(returning: bytes)
        return isOpen
    }

    func end() {
        let reader = state.withLock { state in
            state.isOver = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: nil)
    }

    /// What is to be sent next, all that waits at once; nil where nothing follows.
    func next() async -> [UInt8]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> [UInt8]?? in
                    if !state.waiting.isEmpty {
                        defer { (state.waiting, state.size) = ([], 0) }
                        return .some(Array(state.waiting.joined()))
                    }
                    if state.isOver || state.reader != nil { return .some(nil) }
                    state.reader = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            end()
        }
    }
}

import Synchronization

/// What a verb leaves with the connection that it was asked on, for those that follow on the same one.
final class ControlTie: Sendable {
    private struct State {
        var kept: (any ControlKept)?
        var file: HandedFile?
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Keeps something until it is taken or the connection is closed; false where that is so already, or where it keeps
    /// something.
    func keep(_ kept: any ControlKept, handing file: HandedFile?) -> Bool {
        state.withLock { state in
            guard !state.isClosed, state.kept == nil else { return false }
            (state.kept, state.file) = (kept, file)
            return true
        }
    }

    /// Has a file go out with the next answer; false where that is not kept any more that it belongs to.
    func hand(_ file: HandedFile, of kept: any ControlKept) -> Bool {
        state.withLock { state in
            guard state.kept === kept else { return false }
            state.file = file
            return true
        }
    }

    var kept: (any ControlKept)? { state.withLock { $0.kept } }

    func take() -> (any ControlKept)? {
        state.withLock { state in
            defer { state.kept = nil }
            return state.kept
        }
    }

    /// What goes out with the next answer.
    func takeFile() -> HandedFile? {
        state.withLock { state in
            defer { state.file = nil }
            return state.file
        }
    }

    /// The connection is closed.
    func close() {
        let kept = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state.kept
        }
        kept?.connectionClosed()
    }
}

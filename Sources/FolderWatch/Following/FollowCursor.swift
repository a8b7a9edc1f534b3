import Files
import Synchronization

/// One reader's place in a file.
final class FollowCursor: Sendable {
    private struct State: ~Copyable {
        var reader: FollowReader
        var splitter: LineSplitter
        /// Lines of the last piece that have not been told, the last first.
        var lines: [FollowedLine] = []
        /// While nothing is followed, nothing is opened.
        var isOpen = false
        var hasEnded = false
        var trouble: IOError?
    }

    private let state: Mutex<State>
    private let onTrouble: @Sendable (IOError) -> Void

    init(_ reader: consuming FollowReader, longestLine: Int, _ onTrouble: @escaping @Sendable (IOError) -> Void) {
        state = Mutex(State(reader: reader, splitter: LineSplitter(longest: longestLine)))
        self.onTrouble = onTrouble
    }

    /// Opens the file, or will once there is one.
    func open() {
        state.withLock { $0.isOpen = !$0.hasEnded }
        let _: Never? = read { (state) throws(IOError) in
            try state.reader.open()
            return nil
        }
    }

    /// Closes the file; nothing is read until `open`.
    func close() {
        state.withLock { state in
            state.isOpen = false
            state.trouble = nil
            state.reader.close()
        }
    }

    /// Nobody reads any more.
    func end() {
        state.withLock { $0.hasEnded = true }
        close()
    }

    /// What was appended since; nil for nothing.
    func nextBytes() -> FollowedBytes? {
        read { (state) throws(IOError) in try state.reader.next() }
    }

    /// The next line; nil where none has come.
    func nextLine() -> FollowedLine? {
        read { (state) throws(IOError) in
            while state.lines.isEmpty {
                guard let piece = try state.reader.next() else { return nil }
                state.lines = state.splitter.split(piece).reversed()
            }
            return state.lines.removeLast()
        }
    }

    /// Whether the last read failed.
    var isInTrouble: Bool { state.withLock { $0.trouble != nil } }

    private func read<Told>(_ body: (inout State) throws(IOError) -> Told?) -> Told? {
        var trouble: IOError?
        let told: Told? = state.withLock { state in
            guard state.isOpen else { return nil }
            do throws(IOError) {
                let told = try body(&state)
                state.trouble = nil
                return told
            } catch {
                if error != state.trouble { trouble = error }
                state.trouble = error
                return nil
            }
        }
        if let trouble { onTrouble(trouble) }
        return told
    }
}

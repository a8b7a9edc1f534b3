import Synchronization

/// Who renames on a file system takes turns. All renames between folders of one file system take one lock of the kernel
/// (`s_vfs_rename_mutex`), and those into one folder that of the folder: two threads that rename file by file spend a
/// third of their time on getting these from each other.
package final class RenameTurns: Sendable {
    /// The turns of one file system.
    final class Turn: Sendable {
        private let lock = Mutex(())

        /// Runs a number of renames of small things, of which none takes long.
        func take<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
            try lock.withLock { (_) throws(Failure) in try body() }
        }
    }

    private let turns = Mutex<[UInt64: Turn]>([:])

    package init() {}

    /// Those of the file system with that number (st_dev).
    func turn(of device: UInt64) -> Turn {
        turns.withLock { turns in
            if let turn = turns[device] { return turn }
            let turn = Turn()
            turns[device] = turn
            return turn
        }
    }
}

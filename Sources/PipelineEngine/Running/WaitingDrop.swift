@preconcurrency import Dispatch
package import FolderWatch
import Synchronization

/// A file or folder that is in an inbox and not claimed, or claimed and still being written, and what it waits for.
package struct WaitingDrop: Sendable, Equatable {
    /// Its path from the inbox on, as bytes.
    package let path: [UInt8]
    /// How long it has been known; nil where that is not kept.
    package let known: Duration?
    /// What it waits for, or why it is left alone.
    package let waiting: Waiting
    /// Whether it is in the work folder already, because it was open for writing when it was claimed.
    package let isClaimed: Bool

    package init(path: [UInt8], known: Duration?, waiting: Waiting, isClaimed: Bool = false) {
        self.path = path
        self.known = known
        self.waiting = waiting
        self.isClaimed = isClaimed
    }
}

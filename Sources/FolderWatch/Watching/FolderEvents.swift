package import Files

/// What tells of changes in folders: one for the whole process, which any number of subscribers share. Each subscriber
/// watches any number of folders and receives all events in the kernel's order.
package protocol FolderEvents: Sendable {
    /// Why it tells nothing, with the remedy; nil where it does.
    var lack: String? { get }

    /// Whether writes into files show in the watch of their folder. Where they do not, files are watched one by one.
    var tellsOfWrites: Bool { get }

    /// Adds a subscriber; the handler is called on a thread of this object and must not block. `isSharing`: whether its
    /// folders may be others' too.
    func subscribe(isSharing: Bool, _ handler: @escaping @Sendable ([WatchEvent]) -> Void) -> Subscriber

    /// Forgets a subscriber, with its watches.
    func unsubscribe(_ subscriber: Subscriber)

    /// Watches a folder (or a file, if `tellsOfWrites` is false) that is open: this very one, whatever has its name by
    /// now. One that the subscriber watches already keeps its watch. Throws EEXIST where others watch it and one of the
    /// two does not share; ENOSPC and EMFILE where a limit is reached.
    func watch(_ file: borrowing OpenFile, for subscriber: Subscriber) throws(IOError) -> Watch

    /// Ends one watch; its events are no longer delivered.
    func end(_ watch: Watch, of subscriber: Subscriber)

    /// Ends all watches; its descriptors are closed when this returns. Calling it again does nothing.
    func stop()
}

package import Files

/// The events of a system that tells nothing: folders are listed again and again.
package struct NoEvents: FolderEvents {
    package let lack: String?
    package var tellsOfWrites: Bool { true }

    /// None, for this reason.
    package init(because reason: String) { lack = reason }

    package func subscribe(
        isSharing: Bool, _ handler: @escaping @Sendable ([WatchEvent]) -> Void
    ) -> Subscriber { Subscriber(number: 0, isSharing: isSharing) }

    package func unsubscribe(_ subscriber: Subscriber) {}

    package func watch(_ file: borrowing OpenFile, for subscriber: Subscriber) throws(IOError) -> Watch {
        Watch(number: 0)
    }

    package func end(_ watch: Watch, of subscriber: Subscriber) {}

    package func stop() {}
}

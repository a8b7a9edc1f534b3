import Files

/// The folders of one inbox that the kernel watches, by folder and by watch. A folder that moved may have its watch
/// under its new name already when its old name is forgotten.
struct FolderWatches {
    private let events: any FolderEvents
    private let subscriber: Subscriber
    private var watches: [InboxFolder: Watch] = [:]
    private var folders: [Watch: InboxFolder] = [:]

    init(_ events: any FolderEvents, isSharing: Bool, _ handler: @escaping @Sendable ([WatchEvent]) -> Void) {
        self.events = events
        subscriber = events.subscribe(isSharing: isSharing, handler)
    }

    /// The folder of a watch; nil for one that has ended.
    func folder(of watch: Watch) -> InboxFolder? { folders[watch] }

    /// Watches a folder, or sees to it that it still is what is watched under that name.
    mutating func add(_ opened: OpenInbox.Opened) throws(IOError) {
        let watch = try events.watch(opened.file, for: subscriber)
        guard watches[opened.folder] != watch else { return }
        end(opened.folder)
        watches[opened.folder] = watch
        folders[watch] = opened.folder
    }

    mutating func end(_ folder: InboxFolder) {
        guard let watch = watches.removeValue(forKey: folder), folders[watch] == folder else { return }
        folders[watch] = nil
        events.end(watch, of: subscriber)
    }

    mutating func endAll() {
        for watch in folders.keys { events.end(watch, of: subscriber) }
        watches = [:]
        folders = [:]
    }

    mutating func stop() {
        watches = [:]
        folders = [:]
        events.unsubscribe(subscriber)
    }
}

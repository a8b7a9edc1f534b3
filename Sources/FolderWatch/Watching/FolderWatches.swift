import Files

/// The folders of one inbox that the kernel watches, by folder and by watch. A folder that moved may have its watch
/// under its new name already when its old name is forgotten.
struct FolderWatches {
    private let inotify: InotifyEvents
    private let subscriber: InotifyEvents.Subscriber
    private var watches: [InboxFolder: InotifyEvents.Watch] = [:]
    private var folders: [InotifyEvents.Watch: InboxFolder] = [:]

    init(_ inotify: InotifyEvents, _ handler: @escaping InotifyEvents.Handler) {
        self.inotify = inotify
        subscriber = inotify.subscribe(handler)
    }

    /// The folder of a watch; nil for one that has ended.
    func folder(of watch: InotifyEvents.Watch) -> InboxFolder? { folders[watch] }

    /// Watches a folder, or sees to it that it still is what is watched under that name.
    mutating func add(_ opened: OpenInbox.Opened) throws(IOError) {
        let watch = try inotify.watch(opened.file, for: subscriber)
        guard watches[opened.folder] != watch else { return }
        end(opened.folder)
        watches[opened.folder] = watch
        folders[watch] = opened.folder
    }

    mutating func end(_ folder: InboxFolder) {
        guard let watch = watches.removeValue(forKey: folder), folders[watch] == folder else { return }
        folders[watch] = nil
        inotify.end(watch)
    }

    mutating func endAll() {
        for watch in folders.keys { inotify.end(watch) }
        watches = [:]
        folders = [:]
    }

    mutating func stop() {
        endAll()
        inotify.unsubscribe(subscriber)
    }
}

import Files
import Platform

/// Files of a folder that are watched one by one, where the watch of their folder does not tell of writes into them. At
/// most so many: the one that was written to longest ago gives way.
struct FileWatches {
    private let events: any FolderEvents
    private let subscriber: Subscriber
    private let most: Int
    private var watches: [FileName: (watch: Watch, turn: Int)] = [:]
    /// Names of one file have one watch.
    private var names: [Watch: Set<FileName>] = [:]
    private var turn = 0
    /// Why a file could not be watched.
    private var trouble: IOError?

    init(_ events: any FolderEvents, most: Int, _ handler: @escaping @Sendable ([WatchEvent]) -> Void) {
        self.events = events
        self.most = most
        subscriber = events.subscribe(isSharing: true, handler)
    }

    /// Why not all of so many files are watched; nil where they are.
    func lack(of count: Int) -> String? {
        if watches.count >= count { return nil }
        return count <= most
            ? trouble.map { "\($0)" } : "it has more files than the \(most) that are watched one by one"
    }

    /// The files of a watch; none for one that has ended.
    func names(of watch: Watch) -> Set<FileName> { names[watch] ?? [] }

    /// Those of the names that are not watched, as long as there is room for more.
    func unwatched(of some: Set<FileName>) -> Set<FileName> {
        watches.count < most ? some.filter { watches[$0] == nil } : []
    }

    /// Watches the file that has the name now; whether it was not watched before.
    mutating func follow(_ name: FileName, in folder: borrowing OpenFile) -> Bool {
        turn += 1
        if watches[name] != nil {
            watches[name]?.turn = turn
            return false
        }
        if watches.count >= most, let oldest = watches.min(by: { $0.value.turn < $1.value.turn }) { end(oldest.key) }
        do throws(IOError) {
            let watch = try events.watch(try OpenFile.open(name, in: folder, OpenFile.eventsOnly), for: subscriber)
            watches[name] = (watch, turn)
            names[watch, default: []].insert(name)
            return true
        } catch {
            if error.errno.trouble(with: .drop) != .gone { trouble = error }
            return false
        }
    }

    /// The name is another file's, or nobody's.
    mutating func end(_ name: FileName) {
        guard let (watch, _) = watches.removeValue(forKey: name) else { return }
        names[watch]?.remove(name)
        guard names[watch]?.isEmpty == true else { return }
        names[watch] = nil
        events.end(watch, of: subscriber)
    }

    mutating func stop() {
        (watches, names) = ([:], [:])
        events.unsubscribe(subscriber)
    }
}

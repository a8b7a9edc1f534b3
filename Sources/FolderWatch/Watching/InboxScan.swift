package import Files
import SystemPackage

/// The names of an inbox as they were last seen, folder by folder, and what became different. Pure: it is told what was
/// read or heard. A known name costs about 80 bytes, and more where it is longer than 32.
package struct InboxScan: Sendable {
    /// What is known of one folder.
    package struct Listing: Sendable {
        /// When each name was last seen: the number of the listing. It comes round, which does no harm: what was seen
        /// in the last whole listing has that one's.
        fileprivate var names: [FileName: UInt8] = [:]
        fileprivate var folders: [FileName: UInt8] = [:]
        fileprivate var number = Listing.doubtful

        fileprivate static let doubtful: UInt8 = 0

        /// A name is there; whether it is new, or was in doubt.
        package mutating func saw(_ name: FileName) -> Bool {
            (names.updateValue(number, forKey: name) ?? Self.doubtful) == Self.doubtful
        }

        /// The same, with the name as it is known: one copy of its bytes serves all that deal with it.
        fileprivate mutating func heard(_ name: FileName) -> (name: FileName, isNew: Bool) {
            guard let known = names.index(forKey: name) else { return (name, saw(name)) }
            let isNew = names.values[known] == Self.doubtful
            names.values[known] = number
            return (names.keys[known], isNew)
        }

        /// A name is gone; whether it was known.
        fileprivate mutating func lost(_ name: FileName) -> Bool { names.removeValue(forKey: name) != nil }

        /// A folder to search appeared.
        package mutating func sawFolder(_ name: FileName) { folders[name] = number }

        fileprivate mutating func end() -> Gone {
            let gone = Gone(
                names: names.filter { $0.value != number }.map(\.key),
                folders: folders.filter { $0.value != number }.map(\.key))
            for name in gone.names { names[name] = nil }
            for name in gone.folders { folders[name] = nil }
            return gone
        }
    }

    /// What was not there any more when a folder was listed.
    package struct Gone: Sendable {
        /// Names.
        package let names: [FileName]
        /// Folders that were searched; their own listings are still known.
        package let folders: [FileName]
    }

    private var listings: [InboxFolder: Listing] = [:]

    /// Nothing seen yet.
    package init() {}

    /// How many names are known, folders left out.
    package var count: Int { listings.values.reduce(0) { $0 + $1.names.count } }

    /// Whether the name is known.
    package func knows(_ path: DropPath) -> Bool { listings[path.folder]?.names[path.name] != nil }

    /// The names that are known of a folder.
    func names(of folder: InboxFolder) -> Set<FileName> { Set((listings[folder]?.names ?? [:]).keys) }

    /// Whether the folder was listed.
    package func knows(_ folder: InboxFolder) -> Bool { listings[folder] != nil }

    /// Lists a folder: the body says all that is there. What it throws leaves known what was known, since only a
    /// listing that was read to its end says that a name is gone.
    package mutating func list(
        _ folder: InboxFolder, _ body: (inout Listing) throws(IOError) -> Void
    ) throws(IOError) -> Gone {
        var listing = listings.removeValue(forKey: folder) ?? Listing()
        defer { listings[folder] = listing }
        listing.number = max(listing.number &+ 1, Listing.doubtful + 1)
        try body(&listing)
        return listing.end()
    }

    /// A name appeared or was touched: the change that this is.
    package mutating func heard(of name: FileName, in folder: InboxFolder) -> InboxChange {
        let (name, isNew) = listings[folder, default: Listing()].heard(name)
        return isNew ? .appeared(DropPath(name, in: folder)) : .changed(DropPath(name, in: folder))
    }

    /// A name is gone: the change that this is; nil where it was not known.
    package mutating func lost(_ name: FileName, in folder: InboxFolder) -> InboxChange? {
        remove(name, in: folder) ? .vanished(DropPath(name, in: folder)) : nil
    }

    /// Optional chaining through two dictionaries would allocate at each.
    private mutating func remove(_ name: FileName, in folder: InboxFolder) -> Bool {
        guard let place = listings.index(forKey: folder) else { return false }
        return listings.values[place].lost(name)
    }

    /// A folder to search appeared.
    package mutating func heard(ofFolder name: FileName, in folder: InboxFolder) {
        listings[folder, default: Listing()].sawFolder(name)
    }

    /// A folder is gone with all it held: what that was, names and folders, the folder itself included.
    package mutating func forget(_ folder: InboxFolder) -> (names: [DropPath], folders: [InboxFolder]) {
        var names: [DropPath] = []
        var folders: [InboxFolder] = []
        var pending = [folder]
        while let next = pending.popLast() {
            folders.append(next)
            guard let listing = listings.removeValue(forKey: next) else { continue }
            names += listing.names.keys.map { DropPath($0, in: next) }
            pending += listing.folders.keys.map { next.appending($0) }
        }
        if let path = folder.path { listings[path.folder]?.folders[path.name] = nil }
        return (names, folders)
    }

    /// The drop was taken out by us.
    package mutating func remove(_ path: DropPath) { _ = remove(path.name, in: path.folder) }

    /// Everything may have been exchanged unseen: the next listings tell of what is there as of something new, and of
    /// what is not as gone.
    package mutating func doubt() {
        listings = listings.mapValues { listing in
            var listing = listing
            listing.names = listing.names.mapValues { _ in Listing.doubtful }
            return listing
        }
    }

    /// Forgets everything, as before the first listing.
    package mutating func reset() { listings = [:] }
}

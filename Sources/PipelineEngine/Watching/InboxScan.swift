package import PipelineKit
import SystemPackage

/// A change of an inbox's listing.
package enum InboxChange: Sendable, Equatable {
    /// A name that was not there before.
    case appeared(DropPath)
    /// A name that was there was touched.
    case changed(DropPath)
    /// A name that was there is not any more.
    case vanished(DropPath)
}

/// The names of an inbox as they were last seen, and what became different. Pure: it is told what was read or heard.
package struct InboxScan: Sendable {
    private var names: [DropPath: UInt32] = [:]
    private var generation: UInt32 = 0

    /// Nothing seen yet.
    package init() {}

    /// How many names are known.
    package var count: Int { names.count }

    /// Whether the name was there when last seen.
    package func contains(_ path: DropPath) -> Bool { names[path] != nil }

    /// Begins a full listing: call `saw` for every name, then `end`.
    package mutating func begin() { generation &+= 1 }

    /// A name of the listing; whether it is new.
    package mutating func saw(_ path: DropPath) -> Bool {
        names.updateValue(generation, forKey: path) == nil
    }

    /// Ends a full listing: the names that were not seen any more.
    package mutating func end() -> [DropPath] {
        let gone = names.filter { $0.value != generation }.map(\.key)
        for name in gone { names[name] = nil }
        return gone
    }

    /// The change that an event amounts to, against what is known; nil for none.
    package mutating func take(_ event: FolderEvent) -> InboxChange? {
        switch event {
        case .appeared(let name), .touched(let name):
            names.updateValue(generation, forKey: DropPath(name)) == nil
                ? .appeared(DropPath(name)) : .changed(DropPath(name))
        case .vanished(let name):
            names.removeValue(forKey: DropPath(name)) == nil ? nil : .vanished(DropPath(name))
        case .uncertain: nil
        }
    }

    /// The name was taken out by us.
    package mutating func remove(_ path: DropPath) { names[path] = nil }

    /// Forgets everything, as before the first listing.
    package mutating func reset() { names = [:] }
}

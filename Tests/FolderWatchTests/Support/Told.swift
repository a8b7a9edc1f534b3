import Files
import Synchronization
import SystemPackage
import TestTools

@testable import FolderWatch

/// All that a listener was told, added up. What does not add up is kept as a fault.
final class Told: Sendable {
    private struct State {
        var entries: [FileName: FolderEntry] = [:]
        var differences: [FolderDifference] = []
        var faults: [String] = []
    }

    private let state = Mutex(State())

    var differences: [FolderDifference] { state.withLock { $0.differences } }
    var faults: [String] { state.withLock { $0.faults } }
    var isListed: Bool { state.withLock { !$0.differences.isEmpty } }
    var count: Int { state.withLock { $0.differences.count } }

    /// What is there by all that was told, by name bytes.
    var entries: [FolderEntry] { state.withLock { $0.entries.values.sorted { $0.fileName < $1.fileName } } }
    var names: [String] { entries.map(\.description) }

    func take(_ difference: FolderDifference) {
        state.withLock { state in
            func check(_ holds: Bool, _ fault: @autoclosure () -> String) { if !holds { state.faults.append(fault()) } }
            check(difference.isInitial == state.differences.isEmpty, "initial: \(difference.isInitial)")
            check(difference.isInitial || !difference.isEmpty, "nothing differs")
            for list in [difference.inserted, difference.deleted, difference.changed] {
                check(zip(list, list.dropFirst()).allSatisfy { $0.fileName < $1.fileName }, "not by name")
            }
            for entry in difference.deleted {
                check(state.entries[entry.fileName] == entry, "deleted: \(entry)")
                state.entries[entry.fileName] = nil
            }
            for entry in difference.changed {
                check(state.entries[entry.fileName].map { $0 != entry } ?? false, "changed: \(entry)")
                state.entries[entry.fileName] = entry
            }
            for entry in difference.inserted {
                check(state.entries[entry.fileName] == nil, "inserted: \(entry)")
                state.entries[entry.fileName] = entry
            }
            state.differences.append(difference)
        }
    }
}

/// A folder with a monitor that looks often where it has to, and what its listener was told.
final class Monitored {
    let scratch: ScratchFolder
    let folder: FilePath
    let monitor: FolderMonitor
    let told = Told()
    private let listening: Listening

    init(_ kind: SystemEvents.Kind, _ change: (inout FolderMonitor.Options) -> Void = { _ in }) throws {
        scratch = try ScratchFolder()
        folder = try scratch.makeFolder("watched")
        var options = FolderMonitor.Options.quick(kind)
        change(&options)
        monitor = FolderMonitor(folder, options: options)
        listening = monitor.addListener { @Sendable [told] in told.take($0) }
    }

    /// What is there, as anybody sees it.
    func listing() throws -> [FolderEntry] {
        let open = try OpenFile.openFolder(folder)
        return try Folder.names(in: open).sorted().compactMap { name in
            FileStatus.of(name, in: open).map { FolderEntry(name, $0) }
        }
    }

    /// Whether the listener knows what is there.
    func isTold() throws -> Bool { try told.entries == listing() }

    func path(_ name: String) -> FilePath { folder.appending(name) }

    @discardableResult
    func write(_ contents: String, to name: String) throws -> FilePath {
        try scratch.write(Array(contents.utf8), to: path(name))
    }
}

extension FolderMonitor.Options {
    /// Nothing waits for long, and events are what makes it quick where there are some.
    static func quick(_ kind: SystemEvents.Kind) -> Self {
        var options = Self()
        options.events = kind
        options.poll = .milliseconds(20)
        options.pulse = .milliseconds(50)
        options.rescan = .seconds(3600)
        return options
    }
}

import Files
import FolderWatch
import Platform
import Synchronization
import SystemPackage
import TestTools
import Testing

/// The contract of `FolderEvents`, over all that are built in.
@Suite("FolderEvents", .timeLimit(.minutes(5))) struct FolderEventsTests {
    private let scratch: ScratchFolder

    /// Those that tell something.
    private static let kinds = SystemEvents.Kind.allCases.filter { $0 != .none }

    init() throws {
        scratch = try ScratchFolder()
        try scratch.write("old", to: "folder/old")
        try scratch.write("other", to: "folder/other")
        try scratch.makeFolder("folder/sub")
        try scratch.write("away", to: "outside/away")
        try scratch.makeFolder("end")
    }

    /// A subscriber, and what it heard.
    private final class Ear: Sendable {
        private final class Heard: Sendable { let events = Mutex<[WatchEvent]>([]) }

        let events: any FolderEvents
        let subscriber: Subscriber
        private let heard = Heard()

        init(_ events: any FolderEvents, isSharing: Bool = false) {
            self.events = events
            subscriber = events.subscribe(isSharing: isSharing) { @Sendable [heard] new in
                heard.events.withLock { $0 += new }
            }
        }

        func watch(_ path: FilePath) throws(IOError) -> Watch {
            try events.watch(try OpenFile.open(path, O_RDONLY), for: subscriber)
        }

        /// What was told of a watch, without what is told again and again.
        func told(of watch: Watch) -> [FolderEvent] {
            heard.events.withLock { events in
                events.reduce(into: []) { told, event in
                    if case .of(watch, let event) = event, told.last != event { told.append(event) }
                }
            }
        }
    }

    /// Events come in order: what was to come before that of a new file in `end` has come then.
    private func hearAll(_ ear: Ear) async throws {
        let end = try ear.watch(scratch.path("end"))
        try scratch.write("", to: "end/\(ear.told(of: end).count)")
        #expect(await eventually { !ear.told(of: end).isEmpty })
        ear.events.end(end, of: ear.subscriber)
    }

    // MARK: What is told

    @Test(arguments: kinds, Change.allCases)
    func aFolderTellsOf(_ kind: SystemEvents.Kind, _ change: Change) async throws {
        let events = SystemEvents.open(kind)
        defer { events.stop() }
        let ear = Ear(events)
        let watch = try ear.watch(scratch.path(change.folder))
        try change.make(in: scratch)
        try await hearAll(ear)
        let told = ear.told(of: watch)
        #expect(told == (events.tellsOfWrites ? change.named : change.unnamed))
    }

    @Test(arguments: kinds, FileChange.allCases)
    func aFileTellsOf(_ kind: SystemEvents.Kind, _ change: FileChange) async throws {
        let events = SystemEvents.open(kind)
        defer { events.stop() }
        guard !events.tellsOfWrites else { return }
        let ear = Ear(events)
        let watch = try ear.watch(scratch.path("folder/old"))
        try change.make(in: scratch)
        try await hearAll(ear)
        #expect(ear.told(of: watch) == change.told)
    }

    @Test(arguments: kinds)
    func aFileIsFollowedWhereverItGoes(_ kind: SystemEvents.Kind) async throws {
        let events = SystemEvents.open(kind)
        defer { events.stop() }
        guard !events.tellsOfWrites else { return }
        let ear = Ear(events)
        let watch = try ear.watch(scratch.path("folder/old"))
        try Change.movedOut.make(in: scratch)
        try await hearAll(ear)
        try scratch.append(Array("more".utf8), to: scratch.path("outside/old"))
        #expect(await eventually { ear.told(of: watch) == [.gone, .somethingChanged] })
    }

    @Test func nothingIsToldWhereThereIsNothing() throws {
        let events = SystemEvents.open(.none)
        #expect(events.lack == SystemEvents.Kind.none.lack)
        let ear = Ear(events)
        let watch = try ear.watch(scratch.path("folder"))
        try Change.made.make(in: scratch)
        events.end(watch, of: ear.subscriber)
        events.stop()
        #expect(ear.told(of: watch) == [])
    }

    // MARK: Whose watches

    /// Its descriptor's number is the next one's.
    @Test(arguments: kinds)
    func anEndedWatchIsSilent(_ kind: SystemEvents.Kind) async throws {
        let events = SystemEvents.open(kind)
        defer { events.stop() }
        let ear = Ear(events)
        let ended = try ear.watch(scratch.path("folder"))
        events.end(ended, of: ear.subscriber)
        events.end(ended, of: ear.subscriber)
        let next = try ear.watch(scratch.path("outside"))
        #expect(next != ended)
        try Change.made.make(in: scratch)
        try await hearAll(ear)
        #expect(ear.told(of: ended) == [] && ear.told(of: next) == [])
        let again = try ear.watch(scratch.path("folder"))
        try Change.removed.make(in: scratch)
        #expect(await eventually { !ear.told(of: again).isEmpty })
    }

    @Test(arguments: kinds)
    func anotherSubscriberCannotEndAWatch(_ kind: SystemEvents.Kind) async throws {
        let events = SystemEvents.open(kind)
        defer { events.stop() }
        let (ear, other) = (Ear(events), Ear(events))
        let watch = try ear.watch(scratch.path("folder"))
        events.end(watch, of: other.subscriber)
        events.unsubscribe(other.subscriber)
        try Change.made.make(in: scratch)
        #expect(await eventually { !ear.told(of: watch).isEmpty })
    }

    @Test(arguments: kinds)
    func oneThatIsWatchedKeepsItsWatch(_ kind: SystemEvents.Kind) throws {
        let events = SystemEvents.open(kind)
        defer { events.stop() }
        let ear = Ear(events)
        let watch = try ear.watch(scratch.path("folder"))
        #expect(try ear.watch(scratch.path("folder")) == watch)
        #expect(try ear.watch(scratch.path("outside")) != watch)
        try move("folder", to: "moved")
        #expect(try ear.watch(scratch.path("moved")) == watch)
    }

    @Test(arguments: kinds)
    func whoSharesHearsTheSame(_ kind: SystemEvents.Kind) async throws {
        let events = SystemEvents.open(kind)
        defer { events.stop() }
        let (first, second) = (Ear(events, isSharing: true), Ear(events, isSharing: true))
        let (one, two) = (try first.watch(scratch.path("folder")), try second.watch(scratch.path("folder")))
        try Change.removed.make(in: scratch)
        #expect(await eventually { !first.told(of: one).isEmpty && !second.told(of: two).isEmpty })
        #expect(first.told(of: one) == second.told(of: two))
        events.unsubscribe(first.subscriber)
        let before = first.told(of: one)
        try Change.made.make(in: scratch)
        try Change.folderMoved.make(in: scratch)
        #expect(await eventually { second.told(of: two).contains(.gone) })
        #expect(first.told(of: one) == before)
    }

    @Test(arguments: kinds, [(false, false), (true, false), (false, true)])
    func whoDoesNotShareIsAlone(_ kind: SystemEvents.Kind, _ sharing: (Bool, Bool)) throws {
        let events = SystemEvents.open(kind)
        defer { events.stop() }
        let (first, second) = (Ear(events, isSharing: sharing.0), Ear(events, isSharing: sharing.1))
        let folder = scratch.path("folder")
        let watch = try first.watch(folder)
        #expect(throws: IOError("watch", folder, .fileExists)) { try second.watch(folder) }
        events.end(watch, of: first.subscriber)
        #expect(throws: Never.self) { try second.watch(folder) }
        events.unsubscribe(second.subscriber)
        #expect(throws: Never.self) { try first.watch(folder) }
    }

    // MARK: The end

    @Test(arguments: kinds)
    func aHandlerMayStop(_ kind: SystemEvents.Kind) async throws {
        let events = SystemEvents.open(kind)
        let isStopped = Atomic(false)
        let subscriber = events.subscribe(isSharing: false) { @Sendable _ in
            events.stop()
            isStopped.store(true, ordering: .releasing)
        }
        _ = try events.watch(try OpenFile.openFolder(scratch.path("folder")), for: subscriber)
        try Change.made.make(in: scratch)
        #expect(await eventually { isStopped.load(ordering: .acquiring) })
        events.stop()
        let folder = scratch.path("folder")
        #expect(throws: IOError("watch", folder, .badFileDescriptor)) {
            try events.watch(try OpenFile.openFolder(folder), for: subscriber)
        }
    }

    /// In a process of its own, where nobody else opens files and begins threads.
    @Test(arguments: kinds)
    func nothingStaysOpen(_ kind: SystemEvents.Kind) async throws {
        await #expect(processExitsWith: .success) {
            [kind = kind.rawValue as String, path = scratch.path.string as String] in
            let kind = try #require(SystemEvents.Kind(rawValue: kind))
            let folder = FilePath(path)
            let before = OpenFiles.all
            for round in 0..<1000 {
                let events = SystemEvents.open(kind)
                let subscriber = events.subscribe(isSharing: false) { _ in }
                _ = try events.watch(try OpenFile.openFolder(folder), for: subscriber)
                try OpenFile.open(folder.appending("\(round)"), O_WRONLY | O_CREAT, mode: 0o600).close()
                events.stop()
                events.stop()
                // At once: nothing is left to do in the background.
                guard round % 20 == 0 else { continue }
                try #require(OpenFiles.ofEvents(in: folder) == 0, "round \(round)")
            }
            // Dispatch and the tests' library open a few of their own at some time.
            try #require(OpenFiles.all < before + 20)
            #if os(Linux)
                // The last thread has said that it ends.
                try #require(
                    await eventually {
                        try Folder.names(in: "/proc/self/task").allSatisfy {
                            try !ScratchFolder.read(FilePath("/proc/self/task/\($0.text)/comm")).starts(
                                with: "dropmill.".utf8)
                        }
                    })
            #endif
        }
    }

    @Test(arguments: kinds)
    func withoutDescriptorsThereAreNone(_ kind: SystemEvents.Kind) async throws {
        await #expect(processExitsWith: .success) {
            [kind = kind.rawValue as String, path = scratch.path.string as String] in
            let kind = try #require(SystemEvents.Kind(rawValue: kind))
            let events = SystemEvents.open(kind)
            let subscriber = events.subscribe(isSharing: false) { _ in }
            let folder = try OpenFile.openFolder(FilePath(path))
            while dup(0) >= 0 {}
            let none = SystemEvents.open(kind)
            try #require(none.lack == kind.lack && kind.lack.contains("limit of open files"))
            if !events.tellsOfWrites {
                let error = #expect(throws: IOError.self) { try events.watch(folder, for: subscriber) }
                try #require(error?.errno == .tooManyOpenFiles)
            }
            events.stop()
        }
    }

    private func move(_ from: String, to: String) throws { try Change.move(from, to, in: scratch) }
}

@Suite("OpenInbox") struct OpenInboxTests {
    @Test("A link on the way to an inbox is followed only where it is root's or ours")
    func links() throws {
        let scratch = try ScratchFolder()
        let inbox = try scratch.makeFolder("real/inbox")
        try scratch.link("link", to: "real")
        let path = scratch.path("link/inbox")
        #expect(FileIdentity(try OpenInbox.open(path).status()) == FileIdentity.of(inbox))
        guard geteuid() == 0 else { return }
        let link = scratch.path("link")
        #expect(link.withPlatformString { lchown($0, 65534, 65534) } == 0)
        #expect(throws: IOError(IOError.followingOthers, link, .notPermitted)) { _ = try OpenInbox.open(path) }
    }
}

/// What may happen to a watched folder.
enum Change: CaseIterable, Sendable {
    case made, appended, truncated, fileRightsChanged, movedWithin, movedIn, movedOut, replaced, removed
    case folderMade, folderRemoved, rightsChanged, folderMoved, gone

    /// Which folder is watched.
    var folder: String { self == .gone ? "folder/sub" : "folder" }

    func make(in scratch: ScratchFolder) throws {
        switch self {
        case .made: try scratch.write("", to: "folder/new")
        case .appended: try scratch.append([1], to: scratch.path("folder/old"))
        case .truncated: try call("folder/old", in: scratch) { truncate($0, 1) }
        case .fileRightsChanged: try call("folder/old", in: scratch) { chmod($0, 0o600) }
        case .movedWithin: try Self.move("folder/old", "folder/new", in: scratch)
        case .movedIn: try Self.move("outside/away", "folder/new", in: scratch)
        case .movedOut: try Self.move("folder/old", "outside/old", in: scratch)
        case .replaced: try Self.move("outside/away", "folder/old", in: scratch)
        case .removed: try call("folder/old", in: scratch) { unlink($0) }
        case .folderMade: try call("folder/new", in: scratch) { mkdir($0, 0o700) }
        case .folderRemoved, .gone: try call("folder/sub", in: scratch) { rmdir($0) }
        case .rightsChanged: try call("folder", in: scratch) { chmod($0, 0o700) }
        case .folderMoved: try Self.move("folder", "moved", in: scratch)
        }
    }

    /// What is told by events that know names.
    var named: [FolderEvent] {
        guard let old = FileName("old"), let new = FileName("new"), let sub = FileName("sub") else { return [] }
        return switch self {
        case .made: [.appeared(new, isFolder: false), .touched(new, isFolder: false)]
        case .appended, .truncated, .fileRightsChanged: [.touched(old, isFolder: false)]
        case .movedWithin: [.vanished(old, isFolder: false), .appeared(new, isFolder: false)]
        case .movedIn: [.appeared(new, isFolder: false)]
        case .movedOut, .removed: [.vanished(old, isFolder: false)]
        case .replaced: [.appeared(old, isFolder: false)]
        case .folderMade: [.appeared(new, isFolder: true)]
        case .folderRemoved: [.vanished(sub, isFolder: true)]
        case .rightsChanged: [.rightsChanged]
        case .folderMoved, .gone: [.gone]
        }
    }

    /// What is told by others: nothing of what becomes of the files behind the names.
    var unnamed: [FolderEvent] {
        switch self {
        case .appended, .truncated, .fileRightsChanged: []
        case .rightsChanged, .folderMoved, .gone: named
        default: [.somethingChanged]
        }
    }

    static func move(_ from: String, _ to: String, in scratch: ScratchFolder) throws {
        let target = scratch.path(to)
        try call(from, in: scratch) { from in target.withPlatformString { rename(from, $0) } }
    }

    fileprivate static func call(
        _ name: String, in scratch: ScratchFolder, _ call: (UnsafePointer<CChar>) -> Int32
    ) throws {
        let path = scratch.path(name)
        guard path.withPlatformString(call) == 0 else { throw IOError("change", path, .last) }
    }

    private func call(_ name: String, in scratch: ScratchFolder, _ call: (UnsafePointer<CChar>) -> Int32) throws {
        try Self.call(name, in: scratch, call)
    }
}

/// What may happen to a watched file.
enum FileChange: CaseIterable, Sendable {
    case appended, truncated, rightsChanged, linked, moved, replaced, removed, besides

    func make(in scratch: ScratchFolder) throws {
        switch self {
        case .appended: try Change.appended.make(in: scratch)
        case .truncated: try Change.truncated.make(in: scratch)
        case .rightsChanged: try Change.fileRightsChanged.make(in: scratch)
        case .linked:
            let link = scratch.path("outside/link")
            try Change.call("folder/old", in: scratch) { file in
                link.withPlatformString { Platform.link(file, $0) }
            }
        case .moved: try Change.movedOut.make(in: scratch)
        case .replaced: try Change.replaced.make(in: scratch)
        case .removed: try Change.removed.make(in: scratch)
        case .besides: try scratch.append([1], to: scratch.path("folder/other"))
        }
    }

    var told: [FolderEvent] {
        switch self {
        case .appended, .truncated, .rightsChanged, .linked: [.somethingChanged]
        case .moved, .replaced, .removed: [.gone]
        case .besides: []
        }
    }
}

/// How many descriptors this process has.
private enum OpenFiles {
    static var all: Int { (0..<Int32(4096)).filter { fcntl($0, F_GETFD) >= 0 }.count }

    /// Those by which the kernel tells of events, and of what is watched in a folder, where that can be told.
    static func ofEvents(in folder: FilePath) throws -> Int {
        #if os(Linux)
            try Folder.names(in: "/proc/self/fd").filter {
                let target = ScratchFolder.target(of: FilePath("/proc/self/fd").appending($0))
                return target == "anon_inode:inotify" || target.hasPrefix(folder.string)
            }.count
        #else
            0
        #endif
    }
}

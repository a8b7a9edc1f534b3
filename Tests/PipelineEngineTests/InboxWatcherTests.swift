@preconcurrency import Dispatch
import Files
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import Readiness

@Suite("InboxWatcher", .timeLimit(.minutes(5)), .serialized) struct InboxWatcherTests {
    private let scratch: ScratchFolder
    private let inbox: FilePath

    init() throws {
        scratch = try ScratchFolder()
        inbox = try scratch.makeFolder("inbox")
    }

    private func paces(poll: Duration, rescan: Duration = .seconds(60)) -> InboxWatcher.Pace {
        var pace = InboxWatcher.Pace()
        pace.poll = poll
        pace.rescan = rescan
        return pace
    }

    @Test(
        "A folder that another pipeline watches, by another path to it, is polled, and that is said",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func watchedTwice() async throws {
        let mount = try TemporaryMount(bind: inbox, at: scratch.path("second"))
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        let (first, second) = (WatcherHarness(inbox, inotify), WatcherHarness(mount.path, inotify))
        first.start()
        second.start()
        #expect(first.modes == [.events])
        #expect(second.modes != [.events])
        #expect(second.reasons.first?.contains("by a bind mount") == true)
        second.stop()
        try scratch.write("1", to: "inbox/new")
        #expect(await eventually { !first.changes.isEmpty })
        first.stop()
    }

    @Test("What is there at the start appears, then what comes, changes and goes is told as it happens")
    func events() async throws {
        try scratch.write("1", to: "inbox/there")
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        let watcher = WatcherHarness(inbox, inotify)
        watcher.start()
        let there = try "there".fileName
        let new = try "new".fileName
        #expect(watcher.changes == [.appeared(DropPath(there))])
        #expect(watcher.modes == [.events])
        watcher.forgetHeard()
        try scratch.write("2", to: "inbox/new")
        #expect(await eventually { watcher.changes.last == .changed(DropPath(new)) })
        #expect(watcher.changes.first == .appeared(DropPath(new)))
        watcher.forgetHeard()
        try Folder.remove(inbox.appending(there))
        #expect(await eventually { watcher.changes.last == .vanished(DropPath(there)) })
        // One file that is written is told to have changed more than once, the last time perhaps only now.
        #expect(watcher.changes.filter { $0 != .changed(DropPath(new)) } == [.vanished(DropPath(there))])
        watcher.stop()
    }

    @Test("Names of no interest are neither told nor kept")
    func interest() async throws {
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        let watcher = WatcherHarness(inbox, inotify)
        watcher.start()
        try scratch.write("1", to: "inbox/.hidden")
        try scratch.write("1", to: "inbox/seen")
        let seen = try "seen".fileName
        #expect(await eventually { watcher.changes.contains(.appeared(DropPath(seen))) })
        #expect(!watcher.changes.contains { "\($0)".contains("hidden") })
        watcher.stop()
    }

    @Test("A scan finds inserts and deletes against the last listing")
    func scans() throws {
        let watcher = WatcherHarness(inbox, nil)
        try scratch.write("1", to: "inbox/a")
        try scratch.write("1", to: "inbox/b")
        watcher.start()
        watcher.forgetHeard()
        try Folder.remove(scratch.path("inbox/a"))
        try scratch.write("1", to: "inbox/c")
        watcher.scan()
        #expect(Set(watcher.changes.map { "\($0)" }) == ["appeared(c)", "vanished(a)"])
        watcher.forgetHeard()
        watcher.scan()
        #expect(watcher.changes == [])
        watcher.stop()
    }

    @Test("Without inotify it polls, and says so once with the remedy")
    func polls() async throws {
        let watcher = WatcherHarness(inbox, nil, pace: paces(poll: .milliseconds(50)))
        watcher.start()
        #expect(watcher.modes == [.polling(every: .milliseconds(50))])
        #expect(watcher.reasons.count == 1)
        #expect(watcher.reasons.first?.contains("fs.inotify.max_user_instances") == true)
        try scratch.write("1", to: "inbox/a")
        let name = try "a".fileName
        #expect(await eventually { watcher.changes == [.appeared(DropPath(name))] })
        watcher.stop()
    }

    @Test("Start, stop and start again: each is idempotent, and nothing stays open")
    func idempotent() async {
        // In a process of its own, where nobody else opens anything.
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            let inbox = try scratch.makeFolder("inbox")
            func openDescriptors() throws -> Int { try Folder.names(in: "/proc/self/fd").count }
            let before = try openDescriptors()
            let inotify = try InotifyEvents()
            let watcher = WatcherHarness(inbox, inotify)
            for _ in 0..<3 {
                watcher.start()
                watcher.start()
                watcher.stop()
                watcher.stop()
            }
            try #require(watcher.initialListings == 3)
            watcher.start()
            try scratch.write("1", to: "inbox/again")
            let name = try "again".fileName
            try #require(await eventually { watcher.changes.contains(.appeared(DropPath(name))) })
            watcher.stop()
            inotify.stop()
            inotify.stop()
            // Dispatch itself keeps an epoll descriptor or two; what this opened again and again is gone.
            try #require(try await eventually { try openDescriptors() <= before + 2 })
        }
    }

    @Test("An inbox that is replaced is watched again under its name")
    func replaced() async throws {
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        var pace = InboxWatcher.Pace.untimed
        // For a moment there is no inbox.
        pace.pulse = .milliseconds(50)
        let watcher = WatcherHarness(inbox, inotify, pace: pace)
        watcher.start()
        let old = scratch.path("old")
        #expect(inbox.withPlatformString { from in old.withPlatformString { rename(from, $0) } } == 0)
        try Folder.make(inbox)
        try scratch.write("1", to: "inbox/fresh")
        let name = try "fresh".fileName
        #expect(await eventually { watcher.changes.contains(.appeared(DropPath(name))) })
        watcher.stop()
    }

    @Test("Lost events lead to a scan: what came after the kernel's queue ran over is found")
    func overflow() async throws {
        let text = String(decoding: try ScratchFolder.read("/proc/sys/fs/inotify/max_queued_events"), as: UTF8.self)
        let limit = try #require(Int(text.filter(\.isNumber)))
        try #require(limit <= 100_000, "the limit of events is too high to run over here")
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        let watcher = WatcherHarness(inbox, inotify)
        watcher.start()
        let blocker = DispatchSemaphore(value: 0)
        inotify.whileNotReading { blocker.wait() }
        // Each round is at least two events: created, deleted.
        let churn = scratch.path("inbox/churn")
        for _ in 0...(limit / 2) {
            _ = try OpenFile.open(churn, O_WRONLY | O_CREAT, mode: 0o644)
            try Folder.remove(churn)
        }
        try scratch.write("1", to: "inbox/after")
        blocker.signal()
        let name = try "after".fileName
        #expect(await eventually { watcher.changes.contains(.appeared(DropPath(name))) })
        watcher.stop()
    }

    @Test(
        "A folder that is unmounted is told of as gone", .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func unmounted() async throws {
        let heard = Mutex<[WatchEvent]>([])
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        var mount: TemporaryMount? = try TemporaryMount(tmpfs: "size=1m", at: inbox)
        let subscriber = inotify.subscribe(isSharing: false) { @Sendable events in heard.withLock { $0 += events } }
        let watch = try inotify.watch(try OpenFile.openFolder(inbox), for: subscriber)
        mount = nil
        #expect(await eventually { heard.withLock { $0.contains(.of(watch, .gone)) } })
        withExtendedLifetime(mount) {}
    }

    @Test("In a burst many events are read together, and each subscriber gets its own, all in order")
    func burst() async throws {
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        let begun = MonotonicTime.now()
        var heard: [HeardNames] = []
        for folder in ["inbox/one", "inbox/two"] {
            try Folder.make(scratch.path(folder))
            let names = HeardNames()
            _ = try inotify.watch(
                try OpenFile.openFolder(scratch.path(folder)),
                for: inotify.subscribe(isSharing: false) { @Sendable in names.add($0) })
            heard.append(names)
        }
        let count = 2000
        for number in 0..<count {
            for folder in ["inbox/one", "inbox/two"] {
                let path = scratch.path("\(folder)/\(folder.last ?? "-")\(number)")
                _ = try OpenFile.open(path, O_RDONLY | O_CREAT, mode: 0o644)
            }
        }
        for (names, letter) in zip(heard, ["e", "o"]) {
            #expect(await eventually { names.all.count == count })
            #expect(names.all == (0..<count).map { "\(letter)\($0)" })
        }
        // A pause follows each read but those of much, and nothing is read before the first event.
        let most = (MonotonicTime.now() - begun) / .microseconds(500)
        let ofMuch = 2 * count * 32 / 32_768
        #expect(inotify.reads <= Int(most) + ofMuch + 1)
    }

    /// Names that a subscriber was told of.
    private final class HeardNames: Sendable {
        private let names = Mutex<[String]>([])

        var all: [String] { names.withLock { $0 } }

        func add(_ events: [WatchEvent]) {
            names.withLock { names in
                for case .of(_, .appeared(let name, _)) in events { names.append(name.text) }
            }
        }
    }

    @Test("More events than can be handled are as good as lost ones")
    func tooMany() throws {
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        let subscriber = inotify.subscribe(isSharing: false) { @Sendable _ in }
        let watch = try inotify.watch(try OpenFile.openFolder(inbox), for: subscriber)
        let event = WatchEvent.of(watch, .appeared(try "a".fileName, isFolder: false))
        let heard = HeardEvents()
        let isFirst = heard.add(Array(repeating: event, count: 16_384))
        let isFirstAgain = heard.add([event])
        #expect(isFirst && !isFirstAgain)
        #expect(heard.take() == [.overflow])
        #expect(heard.take().isEmpty)
    }
}

@preconcurrency import Dispatch
import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import Readiness

@Suite("InboxWatcher: folders, limits, absences", .timeLimit(.minutes(5)), .serialized) struct InboxFoldersTests {
    private let scratch: ScratchFolder
    private let inbox: FilePath

    init() throws {
        scratch = try ScratchFolder()
        inbox = try scratch.makeFolder("inbox")
    }

    private func paces(poll: Duration) -> InboxWatcher.Pace {
        var pace = InboxWatcher.Pace()
        pace.poll = poll
        return pace
    }

    // MARK: Folders in the inbox

    @Test("Folders down to the depth are looked into, those below are names")
    func depth() throws {
        try scratch.write("1", to: "inbox/a/b/c")
        try scratch.write("1", to: "inbox/a/d")
        try scratch.write("1", to: "inbox/e")
        let watcher = WatcherHarness(inbox, nil, depth: 2)
        watcher.start()
        #expect(watcher.told == ["+a/b", "+a/d", "+e"])
        watcher.stop()
    }

    @Test("What appears in a new folder is found, however soon, and forgotten with it")
    func newFolders() async throws {
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        let watcher = WatcherHarness(inbox, inotify, depth: .max)
        watcher.start()
        for number in 0..<300 { try scratch.write("1", to: "inbox/n\(number)/deep/er/file") }
        let expected = Set((0..<300).map { "n\($0)/deep/er/file" })
        #expect(await eventually { watcher.known == expected })
        #expect(watcher.scans == 1)
        try Folder.remove(inbox.appending(try "n7".fileName))
        #expect(await eventually { watcher.known == expected.subtracting(["n7/deep/er/file"]) })
        watcher.stop()
    }

    @Test("A folder that moves is known by its new path, and heard there")
    func movedFolder() async throws {
        try scratch.write("1", to: "inbox/x/a/file")
        try scratch.makeFolder("inbox/y")
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        let watcher = WatcherHarness(inbox, inotify, depth: .max)
        watcher.start()
        let (old, new) = (scratch.path("inbox/x/a"), scratch.path("inbox/y/b"))
        #expect(old.withPlatformString { from in new.withPlatformString { rename(from, $0) } } == 0)
        #expect(await eventually { watcher.known == ["y/b/file"] })
        try scratch.write("1", to: "inbox/y/b/later")
        try scratch.write("1", to: "inbox/x/a/again")
        #expect(await eventually { watcher.known == ["y/b/file", "y/b/later", "x/a/again"] })
        #expect(watcher.scans == 1)
        watcher.stop()
    }

    @Test("A folder that a scan found under its new name before its move was heard of keeps what lies in it")
    func movedBeforeScan() async throws {
        try scratch.write("1", to: "inbox/x/a/file")
        try scratch.makeFolder("inbox/y")
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        let watcher = WatcherHarness(inbox, inotify, depth: .max)
        watcher.start()
        let blocker = DispatchSemaphore(value: 0)
        inotify.whileNotReading { blocker.wait() }
        let (old, new) = (scratch.path("inbox/x/a"), scratch.path("inbox/y/b"))
        #expect(old.withPlatformString { from in new.withPlatformString { rename(from, $0) } } == 0)
        watcher.scan()
        #expect(watcher.known == ["y/b/file"])
        try scratch.write("1", to: "inbox/y/b/later")
        try scratch.write("1", to: "inbox/last")
        blocker.signal()
        #expect(await eventually { watcher.known == ["last", "y/b/file", "y/b/later"] })
        try scratch.write("1", to: "inbox/y/b/latest")
        #expect(await eventually { watcher.known.contains("y/b/latest") })
        #expect(watcher.scans == 2)
        watcher.stop()
    }

    @Test(
        "A folder that may be looked into in the end counts as refused no longer",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func refusedFolder() throws {
        // What is mounted there is refused too, also for root.
        var other: TemporaryMount? = try TemporaryMount(tmpfs: "size=1m", at: try scratch.makeFolder("inbox/other"))
        let watcher = WatcherHarness(inbox, nil, depth: .max)
        watcher.start()
        #expect(watcher.refused.count == 1)
        other = nil
        watcher.scan()
        #expect(watcher.told == ["-other"])
        watcher.forgetHeard()
        watcher.scan()
        #expect(watcher.told == [])
        watcher.stop()
        withExtendedLifetime(other) {}
    }

    @Test("A folder that was refused inside one that moved away counts as refused no longer")
    func refusedInside() throws {
        try scratch.write("1", to: "inbox/a/b/file")
        let watcher = WatcherHarness(inbox, nil, depth: .max, deepest: 1)
        watcher.start()
        #expect(watcher.refused.count == 1)
        try NoReplace.rename(scratch.path("inbox/a"), to: scratch.path("elsewhere"))
        watcher.scan()
        #expect(watcher.told == ["-a", "-a/b"])
        watcher.stop()
    }

    @Test("A folder whose path is too long is refused, and no longer once it is gone")
    func tooLong() throws {
        let name = String(repeating: "n", count: 240)
        let deep = Array(repeating: name, count: 9)
        try scratch.makeFolder("inbox/" + deep.joined(separator: "/"))
        let watcher = WatcherHarness(inbox, nil, depth: .max)
        watcher.start()
        #expect(
            watcher.refused == ["\(deep.joined(separator: "/")): its path is too long; files that deep are not taken"])
        try Folder.remove(scratch.path("inbox/" + deep.joined(separator: "/")))
        watcher.scan()
        #expect(watcher.told == ["-" + deep.joined(separator: "/")])
        watcher.stop()
    }

    @Test(
        "A folder of another file system is left alone, and said", .enabled(if: TemporaryMount.isPossible, "needs root")
    )
    func mountedFolder() throws {
        let other = try TemporaryMount(tmpfs: "size=1m", at: scratch.path("inbox/other"))
        defer { withExtendedLifetime(other) {} }
        try scratch.write("1", to: "inbox/other/file")
        let watcher = WatcherHarness(inbox, nil, depth: .max)
        watcher.start()
        #expect(watcher.told == [])
        #expect(watcher.refused == ["other: another file system is mounted there; give it a pipeline of its own"])
        watcher.stop()
    }

    @Test("5,000 nested folders with a file in each: all found, and heard of afterwards")
    func manyFolders() async throws {
        var expected: Set<String> = []
        for number in 0..<5000 {
            let digits = String(number + 10_000).dropFirst().map(String.init)
            let path = digits.joined(separator: "/") + "/file"
            try scratch.write("1", to: "inbox/" + path)
            expected.insert(path)
        }
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        let watcher = WatcherHarness(inbox, inotify, depth: .max)
        watcher.start()
        #expect(watcher.modes == [.events])
        #expect(watcher.known == expected)
        try scratch.write("1", to: "inbox/4/9/9/9/late")
        #expect(await eventually { watcher.known.contains("4/9/9/9/late") })
        watcher.stop()
    }

    @Test("Where the watches are used up it polls, says once which limit that is, and finds what comes")
    func usedUp() async throws {
        for number in 0..<20 { try scratch.write("1", to: "inbox/n\(number)/a") }
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        inotify.limit(toWatches: 5)
        let watcher = WatcherHarness(inbox, inotify, depth: .max, pace: paces(poll: .milliseconds(50)))
        watcher.start()
        #expect(watcher.modes == [.polling(every: .milliseconds(50))])
        #expect(watcher.reasons.count == 1)
        #expect(watcher.reasons.first?.contains("fs.inotify.max_user_watches") == true)
        for number in 0..<20 { try scratch.write("1", to: "inbox/n\(number)/b") }
        #expect(await eventually { watcher.known.count == 40 })
        inotify.limit(toWatches: .max)
        #expect(await eventually { watcher.modes.last == .events })
        #expect(watcher.reasons.count == 2)
        watcher.stop()
    }

    // MARK: An inbox that goes and comes

    @Test("An inbox that is gone is said once; nothing counts as deleted, and it goes on when it is back")
    func gone() async throws {
        try scratch.write("1", to: "inbox/sub/there")
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        var pace = paces(poll: .milliseconds(50))
        pace.pulse = .milliseconds(50)
        let watcher = WatcherHarness(inbox, inotify, depth: 2, pace: pace)
        watcher.start()
        watcher.forgetHeard()
        let away = scratch.path("away")
        #expect(inbox.withPlatformString { from in away.withPlatformString { rename(from, $0) } } == 0)
        #expect(await eventually { watcher.failures == ["io.open"] })
        #expect(watcher.told == [])
        #expect(away.withPlatformString { from in inbox.withPlatformString { rename(from, $0) } } == 0)
        #expect(await eventually { watcher.recoveries == 1 })
        #expect(watcher.told == ["+sub/there"])
        try scratch.write("1", to: "inbox/sub/later")
        #expect(await eventually { watcher.known.contains("sub/later") })
        #expect(watcher.failures.count == 1)
        watcher.stop()
    }

    @Test("What was heard to vanish just before the inbox was lost is told")
    func vanishedBefore() async throws {
        for name in ["gone", "stays"] { try scratch.write("1", to: "inbox/\(name)") }
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        let watcher = WatcherHarness(inbox, inotify, depth: 2)
        watcher.start()
        let blocker = DispatchSemaphore(value: 0)
        inotify.whileNotReading { blocker.wait() }
        try Folder.remove(scratch.path("inbox/gone"))
        // To be walked through, which fails.
        try scratch.makeFolder("inbox/new")
        let away = scratch.path("away")
        try NoReplace.rename(inbox, to: away)
        blocker.signal()
        #expect(await eventually { watcher.failures == ["io.open"] })
        try NoReplace.rename(away, to: inbox)
        watcher.scan()
        #expect(watcher.recoveries == 1)
        #expect(watcher.known == ["stays"])
        watcher.stop()
    }

    @Test("While the check says no nothing is read, be the folder there or not")
    func away() async throws {
        try scratch.write("1", to: "inbox/there")
        var pace = paces(poll: .milliseconds(20))
        pace.pulse = .milliseconds(20)
        let flag = Flag()
        let watcher = WatcherHarness(inbox, nil, pace: pace) { () throws(WatchError) in
            guard flag.isSet else { return }
            throw .away(code: "inbox.away", summary: "Away.", remedy: "")
        }
        watcher.start()
        watcher.forgetHeard()
        flag.isSet = true
        try Folder.remove(scratch.path("inbox/there"))
        #expect(await eventually { watcher.failures == ["inbox.away"] })
        #expect(watcher.told == [])
        try scratch.write("1", to: "inbox/there")
        flag.isSet = false
        #expect(await eventually { watcher.recoveries == 1 })
        #expect(watcher.told == ["+there"])
        watcher.stop()
    }

    @Test("A change of the inbox's own rights leads to a scan, so that what was refused is looked at again")
    func rights() async throws {
        let inotify = try InotifyEvents()
        defer { inotify.stop() }
        let watcher = WatcherHarness(inbox, inotify)
        watcher.start()
        #expect(watcher.scans == 1)
        #expect(inbox.withPlatformString { chmod($0, 0o770) } == 0)
        #expect(await eventually { watcher.scans >= 2 })
        watcher.stop()
    }
}

/// A flag that a test sets and the watcher's queue reads.
private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

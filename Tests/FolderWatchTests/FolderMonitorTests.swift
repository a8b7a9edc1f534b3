@preconcurrency import Dispatch
import Files
import Platform
import Synchronization
import SystemPackage
import TestTools
import Testing

@testable import FolderWatch

@Suite("FolderMonitor: listings, listeners, start and stop")
struct FolderMonitorTests {
    @Test(
        "What is there is told first, then what is inserted, changed and deleted", arguments: SystemEvents.Kind.allCases
    )
    func tells(kind: SystemEvents.Kind) async throws {
        let watched = try Monitored(kind)
        try watched.write("1", to: "old")
        try watched.monitor.start()
        #expect(watched.monitor.contents.map(\.description) == ["old"])
        #expect(await eventually { watched.told.names == ["old"] })
        try watched.write("1", to: "new")
        #expect(await eventually { watched.told.names == ["new", "old"] })
        try watched.scratch.append(Array("23".utf8), to: watched.path("old"))
        #expect(await eventually { watched.told.entries.last?.size == 3 })
        _ = watched.path("old").withPlatformString { chmod($0, 0o600) }
        #expect(try await eventually { try watched.isTold() })
        unlink("\(watched.path("new"))")
        #expect(await eventually { watched.told.names == ["old"] })
        #expect(try watched.isTold())
        #expect(watched.told.faults.isEmpty)
        #expect(watched.told.differences.map(\.isInitial).filter { $0 }.count == 1)
    }

    @Test(
        "Folders, links, FIFOs and names that are not UTF-8 are told as what they are",
        arguments: SystemEvents.Kind.allCases)
    func kinds(kind: SystemEvents.Kind) async throws {
        let watched = try Monitored(kind)
        try watched.monitor.start()
        let odd = try #require(FileName([0xFF, 0x0A, 0x41]))
        try watched.scratch.write([1], to: watched.folder.appending(odd))
        try watched.scratch.makeFolder("watched/folder")
        try watched.scratch.link("watched/link", to: "nowhere")
        _ = watched.path("fifo").withPlatformString { mkfifo($0, 0o600) }
        #expect(try await eventually { try watched.isTold() && watched.told.entries.count == 4 })
        let kinds = Dictionary(uniqueKeysWithValues: watched.told.entries.map { ($0.description, $0.kind) })
        #expect(kinds == ["fifo": .special, "folder": .folder, "link": .link, "\\xFF\\nA": .file])
        #expect(watched.told.entries.last.map { FilePath(root: nil, components: $0.name).bytes } == [0xFF, 0x0A, 0x41])
    }

    @Test(
        "Starting and stopping twice do nothing the second time; a listener is told what differs after a pause",
        arguments: SystemEvents.Kind.allCases)
    func startStop(kind: SystemEvents.Kind) async throws {
        let watched = try Monitored(kind)
        try watched.write("1", to: "a")
        #expect(!watched.monitor.isRunning && watched.monitor.contents.isEmpty)
        watched.monitor.stop()
        try watched.monitor.start()
        try watched.monitor.start()
        #expect(watched.monitor.isRunning)
        #expect(await eventually { watched.told.count == 1 })
        watched.monitor.stop()
        watched.monitor.stop()
        #expect(!watched.monitor.isRunning && watched.monitor.contents.isEmpty)
        try watched.write("1", to: "b")
        unlink("\(watched.path("a"))")
        try watched.monitor.start()
        #expect(await eventually { watched.told.count == 2 })
        let difference = try #require(watched.told.differences.last)
        #expect(difference.inserted.map(\.description) == ["b"] && difference.deleted.map(\.description) == ["a"])
        try watched.monitor.restart()
        try watched.write("1", to: "c")
        #expect(try await eventually { try watched.isTold() && watched.told.names == ["b", "c"] })
        #expect(watched.told.faults.isEmpty)
    }

    @Test("A folder that is missing, a file, or another user's link is refused with the remedy")
    func refused() throws {
        let scratch = try ScratchFolder()
        try scratch.write("", to: "file")
        try scratch.makeFolder("folder")
        try scratch.link("link", to: "folder")
        func problem(_ name: String) -> WatchError? {
            let monitor = FolderMonitor(scratch.path(name))
            do throws(WatchError) { try monitor.start() } catch { return error }
            defer { monitor.stop() }
            return monitor.isRunning ? nil : .io(IOError("run", "nothing", .badAddress))
        }
        let missing = try #require(problem("missing"))
        #expect(missing.errno == .noSuchFileOrDirectory)
        #expect("\(missing)".hasPrefix("cannot open '\(scratch.path("missing"))': No such file or directory; make it"))
        #expect(problem("file")?.errno == .notDirectory)
        #expect(problem("link") == nil)
        guard geteuid() == 0 else { return }
        _ = scratch.path("link").withPlatformString { lchown($0, 12345, 12345) }
        let others = try #require(problem("link"))
        #expect(others.errno == .notPermitted && others.remedy.contains("real path"))
    }

    @Test("Any number of listeners; one that is cancelled or released hears nothing more")
    func listeners() async throws {
        let watched = try Monitored(.system)
        try watched.write("1", to: "a")
        let (second, third) = (Told(), Told())
        let cancelled = watched.monitor.addListener { @Sendable in second.take($0) }
        var released: Listening? = watched.monitor.addListener { @Sendable in third.take($0) }
        try watched.monitor.start()
        #expect(await eventually { [watched.told, second, third].allSatisfy { $0.names == ["a"] } })
        cancelled.cancel()
        _ = released
        released = nil
        let late = Told()
        let listening = watched.monitor.addListener { @Sendable in late.take($0) }
        #expect(await eventually { late.differences.map(\.isInitial) == [true] && late.names == ["a"] })
        try watched.write("1", to: "b")
        #expect(await eventually { [watched.told, late].allSatisfy { $0.names == ["a", "b"] } })
        #expect(second.names == ["a"] && third.names == ["a"])
        listening.cancel()
    }

    @Test("A listener that blocks holds up nobody; what it missed is one difference")
    func blocked() async throws {
        let watched = try Monitored(.system)
        let (slow, gate) = (Told(), Gate())
        let listening = watched.monitor.addListener { @Sendable difference in
            gate.wait()
            slow.take(difference)
        }
        try watched.monitor.start()
        for number in 0..<200 {
            try watched.write("1", to: "n\(number)")
            // So that there is much to merge.
            if number % 20 == 0 { #expect(await eventually { watched.told.entries.count == number + 1 }) }
        }
        #expect(try await eventually { try watched.isTold() && watched.told.entries.count == 200 })
        #expect(!slow.isListed)
        gate.open()
        #expect(await eventually { slow.entries.count == 200 })
        #expect(slow.count <= 2, "the one it was at, and one of all the rest")
        #expect(slow.faults.isEmpty)
        listening.cancel()
    }

    @Test("It can be stopped, started and asked from within a listener")
    func withinListener() async throws {
        let watched = try Monitored(.system)
        let done = Mutex(0)
        let monitor = watched.monitor
        let listening = monitor.addListener { @Sendable [weak monitor] difference in
            guard let monitor else { return }
            #expect(difference.inserted.count == 1)
            monitor.stop()
            #expect(!monitor.isRunning)
            done.withLock { $0 += 1 }
        }
        try watched.write("1", to: "a")
        try monitor.start()
        #expect(await eventually { done.withLock { $0 } == 1 })
        #expect(!monitor.isRunning)
        listening.cancel()
    }

    @Test("Sequences: an initial difference, then the others; cancelling the task ends the iteration, not the monitor")
    func sequences() async throws {
        let watched = try Monitored(.system)
        try watched.write("1", to: "a")
        let told = Told()
        let monitor = watched.monitor
        let task = Task { for await difference in monitor.differences { told.take(difference) } }
        try monitor.start()
        #expect(await eventually { told.names == ["a"] })
        try watched.write("1", to: "b")
        #expect(await eventually { told.names == ["a", "b"] })
        task.cancel()
        await task.value
        #expect(monitor.isRunning)
        try watched.write("1", to: "c")
        #expect(await eventually { watched.told.names == ["a", "b", "c"] })
        #expect(told.names == ["a", "b"])
        // A stop ends iterations, a restart does not.
        let other = Told()
        let second = Task { for await difference in monitor.differences { other.take(difference) } }
        #expect(await eventually { other.names == ["a", "b", "c"] })
        try monitor.restart()
        try watched.write("1", to: "d")
        #expect(await eventually { other.names == ["a", "b", "c", "d"] })
        monitor.stop()
        await second.value
        #expect(other.faults.isEmpty && told.faults.isEmpty)
    }

    @Test("The last reference goes while events come: iterations end, and nothing stays open")
    func released() async throws {
        let scratch = try ScratchFolder()
        let writing = Task.detached {
            var number = 0
            while !Task.isCancelled {
                try scratch.write("1", to: "n\(number % 50)")
                number += 1
            }
        }
        for _ in 0..<50 {
            let monitor = FolderMonitor(scratch.path)
            let sequence = monitor.differences
            let ended = Task { for await _ in sequence {} }
            let listening = monitor.addListener { @Sendable _ in }
            try monitor.start()
            listening.cancel()
            _ = consume monitor
            await ended.value
        }
        writing.cancel()
        _ = try? await writing.value
    }

    @Test("A listener may be the last that holds what it listens to")
    func strongCapture() async throws {
        let scratch = try ScratchFolder()
        try scratch.write("", to: "f")
        weak var released: FolderMonitor?
        for round in 0..<30 {
            let other = try Monitored(.system)
            try other.monitor.start()
            let monitor = FolderMonitor(scratch.path)
            let settled = SettledFolder(scratch.path)
            let follower = FileFollower(scratch.path("f"))
            let told = Told()
            var listening = [
                monitor.addListener { @Sendable [monitor] in
                    _ = monitor.folder
                    told.take($0)
                },
                settled.addListener { @Sendable [settled] _ in _ = settled.folder },
                follower.addListener { @Sendable [follower] _ in _ = follower.file },
            ]
            try monitor.start()
            try settled.start()
            try follower.start()
            #expect(await eventually { told.isListed })
            released = monitor
            if round % 2 == 0 { listening.forEach { $0.cancel() } }
            listening = []
            try scratch.write("\(round)", to: "a")
        }
        #expect(await eventually { released == nil })
    }

    @Test("Listeners on one queue have turns, however much one of them has to do")
    func turns() async throws {
        let scratch = try ScratchFolder()
        try scratch.write(String(repeating: "line\n", count: 50_000), to: "log")
        let queue = DispatchQueue(label: "test.listeners")
        let follower = FileFollower(scratch.path("log"), from: .start, queue: queue)
        let lines = Mutex(0)
        let turn = Mutex<Int?>(nil)
        let listening = follower.addLineListener { @Sendable [queue] _ in
            let isFirst = lines.withLock { lines in
                lines += 1
                return lines == 1
            }
            if isFirst { queue.async { turn.withLock { $0 = lines.withLock { $0 } } } }
        }
        try follower.start()
        #expect(await eventually { lines.withLock { $0 } == 50_000 })
        #expect(await eventually { turn.withLock { $0 } != nil })
        #expect(turn.withLock { $0 ?? 50_000 } < 50_000, "another block of the queue had its turn")
        listening.cancel()
        follower.stop()
    }

    @Test("A scan is due with every pulse of its own period, be the pulse a little early; a long one leaves time")
    func period() {
        let (pulse, took) = (Duration.seconds(2), Duration.milliseconds(20))
        func isDue(_ passed: Duration, _ took: Duration, every pause: Duration) -> Bool {
            InboxWatcher.isScanDue(passed, after: took, every: pause, pulse: pulse)
        }
        #expect(isDue(.milliseconds(1995), took, every: pulse))
        #expect(!isDue(.milliseconds(900), took, every: pulse))
        #expect(!isDue(.milliseconds(57_995), took, every: .seconds(60)))
        #expect(isDue(.milliseconds(59_995), took, every: .seconds(60)))
        #expect(!isDue(.seconds(8), .seconds(5), every: pulse))
        #expect(isDue(.seconds(10), .seconds(5), every: pulse))
    }

    @Test("Pauses of nothing, less than that, or for ever are no harm", arguments: SystemEvents.Kind.allCases)
    func pauses(kind: SystemEvents.Kind) async throws {
        for pause in [Duration.zero, .seconds(-5), .seconds(Int64.min), .nanoseconds(1), .seconds(Int64.max)] {
            let watched = try Monitored(kind) { ($0.pulse, $0.poll, $0.rescan) = (pause, pause, pause) }
            try watched.write("1", to: "a")
            try watched.monitor.start()
            #expect(await eventually { watched.told.names == ["a"] })
            watched.monitor.stop()
        }
    }

    @Test("An empty path is no folder; one that cannot start was never anything but stopped")
    func emptyPath() async throws {
        let monitor = FolderMonitor("")
        let words = Mutex<[String]>([])
        let listening = monitor.addStateListener { @Sendable state in words.withLock { $0.append(state.word) } }
        #expect(throws: WatchError.self) { try monitor.start() }
        let missing = FolderMonitor("/nonexistent/folder")
        let others = missing.addStateListener { @Sendable state in words.withLock { $0.append(state.word) } }
        #expect(throws: WatchError.self) { try missing.start() }
        #expect(await eventually { words.withLock { $0.count } >= 2 })
        #expect(words.withLock { $0 } == ["stopped", "stopped"])
        listening.cancel()
        others.cancel()
    }

    @Test("A monitor of some names tells of no others")
    func included() async throws {
        let watched = try Monitored(.system) { $0.isIncluded = { @Sendable name in name.extension == "txt" } }
        try watched.write("1", to: "a.txt")
        try watched.write("1", to: "a.bin")
        try watched.monitor.start()
        try watched.write("1", to: "b.bin")
        try watched.write("1", to: "b.txt")
        #expect(await eventually { watched.told.names == ["a.txt", "b.txt"] })
    }
}

/// Holds up who waits until it is opened.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func wait() {
        semaphore.wait()
        semaphore.signal()
    }

    func open() { semaphore.signal() }
}

import Files
import Platform
import Synchronization
import SystemPackage
import TestTools
import Testing

@testable import FolderWatch

@Suite("FolderMonitor: folders that go away and come back")
struct MonitorAbsenceTests {
    @Test(
        "A folder that is removed and made again is away, and back with one difference",
        arguments: SystemEvents.Kind.allCases)
    func removed(kind: SystemEvents.Kind) async throws {
        let watched = try Monitored(kind)
        try watched.write("1", to: "stays")
        try watched.monitor.start()
        #expect(await eventually { watched.told.names == ["stays"] })
        let elsewhere = watched.scratch.path("elsewhere")
        rename("\(watched.folder)", "\(elsewhere)")
        #expect(await eventually { watched.monitor.state.isAway })
        #expect(watched.told.names == ["stays"], "an absence deletes nothing")
        #expect(watched.monitor.isRunning)
        let before = watched.told.count
        try watched.scratch.makeFolder("new")
        for name in ["a", "b", "c"] { try watched.scratch.write("2", to: "new/\(name)") }
        rename("\(watched.scratch.path("new"))", "\(watched.folder)")
        #expect(try await eventually { try watched.isTold() })
        #expect(watched.told.count == before + 1)
        #expect(await eventually { !watched.monitor.state.isAway })
        try watched.write("1", to: "d")
        #expect(try await eventually { try watched.isTold() })
        #expect(watched.told.faults.isEmpty)
    }

    @Test("A folder that is replaced by another in one step is the other one", arguments: SystemEvents.Kind.allCases)
    func replaced(kind: SystemEvents.Kind) async throws {
        let watched = try Monitored(kind)
        try watched.write("1", to: "a")
        let link = watched.scratch.path("link")
        try watched.scratch.link("link", to: "watched")
        let told = Told()
        let monitor = FolderMonitor(link, options: .quick(kind))
        let listening = monitor.addListener { @Sendable in told.take($0) }
        try monitor.start()
        #expect(await eventually { told.names == ["a"] })
        try watched.scratch.makeFolder("other")
        try watched.scratch.write("1", to: "other/b")
        try watched.scratch.link("next", to: "other")
        rename("\(watched.scratch.path("next"))", "\(link)")
        #expect(await eventually { told.names == ["b"] })
        #expect(told.count == 2)
        try watched.scratch.write("1", to: "other/c")
        #expect(await eventually { told.names == ["b", "c"] })
        #expect(told.faults.isEmpty)
        monitor.stop()
        listening.cancel()
    }

    @Test("States are told: events or polling, away with the remedy, back, stopped")
    func states() async throws {
        let watched = try Monitored(.system)
        let told = Mutex<[String]>([])
        let listening = watched.monitor.addStateListener { @Sendable state in told.withLock { $0.append(state.word) } }
        #expect(await eventually { told.withLock { $0 } == ["stopped"] })
        try watched.monitor.start()
        #expect(await eventually { told.withLock { $0.last } == "events" })
        rename("\(watched.folder)", "\(watched.scratch.path("elsewhere"))")
        #expect(await eventually { told.withLock { $0.last } == "away" })
        guard case .away(let error) = watched.monitor.state else { return #expect(Bool(false), "it is away") }
        #expect(error.errno == .noSuchFileOrDirectory && error.remedy.hasPrefix("make it"))
        rename("\(watched.scratch.path("elsewhere"))", "\(watched.folder)")
        #expect(await eventually { told.withLock { $0.last } == "events" })
        watched.monitor.stop()
        #expect(await eventually { told.withLock { $0.last } == "stopped" })
        #expect(told.withLock { $0 } == ["stopped", "events", "away", "events", "stopped"])
        listening.cancel()
    }

    #if os(Linux)
        @Test(
            "A file system that is unmounted and comes back: one difference each, and nothing keeps it from that",
            .enabled(if: TemporaryMount.isPossible), arguments: SystemEvents.Kind.allCases)
        func unmounted(kind: SystemEvents.Kind) async throws {
            let watched = try Monitored(kind)
            // Kept by a mount of its own, so that it is the same when it comes back.
            let store = try TemporaryMount(tmpfs: "size=1m", at: watched.scratch.path("store"))
            for name in ["a", "b", "c"] { try watched.scratch.write("1", to: "store/\(name)") }
            var shown: TemporaryMount? = try TemporaryMount(bind: store.path, at: watched.folder)
            try watched.monitor.start()
            #expect(await eventually { watched.told.names == ["a", "b", "c"] })
            _ = shown
            shown = nil
            #expect(await eventually { watched.told.names == [] })
            #expect(watched.told.count == 2)
            shown = try TemporaryMount(bind: store.path, at: watched.folder)
            #expect(await eventually { watched.told.names == ["a", "b", "c"] })
            #expect(watched.told.count == 3)
            try watched.write("1", to: "d")
            #expect(await eventually { watched.told.names == ["a", "b", "c", "d"] })
            #expect(watched.told.faults.isEmpty)
            watched.monitor.stop()
            // Not lazily: it fails where anything is open.
            #expect(umount2("\(watched.folder)", 0) == 0)
            // The double of kqueue, and polling, have none; inotify's watches keep nothing either.
            _ = shown
        }
    #endif
}

extension FolderMonitor.State {
    var isAway: Bool { word == "away" }

    var word: String {
        switch self {
        case .stopped: "stopped"
        case .events: "events"
        case .polling: "polling"
        case .away: "away"
        }
    }
}

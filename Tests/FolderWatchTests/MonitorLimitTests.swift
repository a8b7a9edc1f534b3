@preconcurrency import Dispatch
import Files
import Platform
import Synchronization
import SystemPackage
import TestTools
import Testing

@testable import FolderWatch

/// What counts the descriptors and threads of the process runs alone.
@Suite("FolderMonitor: limits", .serialized)
struct MonitorLimitTests {
    @Test("100,000 entries are one difference, and so is what became of them", arguments: SystemEvents.Kind.allCases)
    func large(kind: SystemEvents.Kind) async throws {
        // Nobody looks at so many all the time.
        let watched = try Monitored(kind) { $0.poll = .seconds(3600) }
        let folder = "\(watched.folder)/"
        for number in 0..<100_000 { close(open(folder + "\(number)", O_WRONLY | O_CREAT, 0o644)) }
        try watched.monitor.start()
        #expect(watched.monitor.contents.count == 100_000)
        #expect(await eventually { watched.told.entries.count == 100_000 })
        #expect(watched.told.count == 1)
        watched.monitor.stop()
        for number in 0..<1000 { try watched.write("1", to: "\(number)") }
        for number in 1000..<2000 { unlink(folder + "\(number)") }
        try watched.monitor.start()
        #expect(await eventually { watched.told.count == 2 })
        #expect(watched.told.differences.last?.changed.count == 1000)
        #expect(watched.told.differences.last?.deleted.count == 1000)
        #expect(watched.told.faults.isEmpty)
    }

    @Test("A thousand monitors share one instance, also those of one folder; all is closed with the last of them")
    func many() async throws {
        await #expect(processExitsWith: .success) {
            for kind in SystemEvents.Kind.allCases where kind != .none { try await Self.watchThousand(kind) }
        }
    }

    private static func watchThousand(_ kind: SystemEvents.Kind) async throws {
        raiseLimit()
        try await warmUp(kind)
        let before = Held.now()
        let scratch = try ScratchFolder()
        let told = (0..<1000).map { _ in Told() }
        var monitors: [FolderMonitor] = []
        var listening: [Listening] = []
        // Half of them watch a folder that another one watches, too.
        for (number, told) in told.enumerated() {
            let folder = try scratch.makeFolder("\(number / 2)")
            var options = FolderMonitor.Options.quick(kind)
            options.pulse = .seconds(3600)
            let monitor = FolderMonitor(folder, options: options)
            listening.append(monitor.addListener { @Sendable in told.take($0) })
            try monitor.start()
            monitors.append(monitor)
        }
        let open = Held.now()
        #expect(open.eventThreads == 1)
        #expect(open.instances == 1)
        for number in 0..<500 { try scratch.write("1", to: "\(number)/a") }
        #expect(await eventually { told.allSatisfy { $0.names == ["a"] } })
        monitors.forEach { $0.stop() }
        #expect(Held.now().descriptors == before.descriptors)
        #expect(await eventually { Held.now().eventThreads == 0 })
        #expect(told.allSatisfy { $0.faults.isEmpty })
        listening.forEach { $0.cancel() }
    }

    @Test("Started and stopped thousands of times: descriptors and threads as before")
    func startStop() async throws {
        await #expect(processExitsWith: .success) {
            try await Self.startAndStop(.system)
        }
    }

    private static func startAndStop(_ kind: SystemEvents.Kind) async throws {
        try await warmUp(kind)
        let watched = try Monitored(kind)
        try watched.write("1", to: "a")
        let before = Held.now()
        // The kernel takes its time for closing what inotify is.
        #if DROPMILL_KQUEUE
            let rounds = 1000
        #else
            let rounds = 10_000
        #endif
        for number in 0..<rounds {
            try watched.monitor.start()
            if number % 100 == 0 { try watched.write("\(number)", to: "a") }
            watched.monitor.stop()
            if number % 500 == 0 { #expect(Held.now().descriptors == before.descriptors) }
        }
        #expect(Held.now().descriptors == before.descriptors)
        // Dispatch's own threads come and go.
        #expect(await eventually { Held.now().eventThreads == 0 && Held.now().threads <= before.threads + 8 })
        try watched.monitor.start()
        #expect(try await eventually { try watched.isTold() })
        #expect(watched.told.faults.isEmpty)
        watched.monitor.stop()
    }

    @Test("No descriptor left at the start: refused with the remedy")
    func fewDescriptors() async throws {
        await #expect(processExitsWith: .success) {
            try await warmUp(.system)
            let watched = try Monitored(.system)
            try watched.write("1", to: "a")
            try await withDescriptors(free: 0) {
                do throws(WatchError) {
                    try watched.monitor.start()
                    Issue.record("there is no descriptor for the folder")
                } catch {
                    #expect(error.errno == .tooManyOpenFiles && error.remedy.contains("limit of open files"))
                }
                #expect(!watched.monitor.isRunning)
            }
        }
    }

    #if os(Linux) && !DROPMILL_KQUEUE
        @Test("Too few descriptors for inotify at the start: it polls, and says so once")
        func fewForInotify() async throws {
            await #expect(processExitsWith: .success) {
                try await warmUp(.inotify)
                let watched = try Monitored(.inotify)
                try watched.write("1", to: "a")
                let words = Mutex<[String]>([])
                let listening = watched.monitor.addStateListener { @Sendable state in
                    words.withLock { $0.append(state.word) }
                }
                // inotify takes three, a listing two.
                try await withDescriptors(free: 2) {
                    try watched.monitor.start()
                    guard case .polling(_, let reason) = watched.monitor.state else {
                        Issue.record("\(watched.monitor.state)")
                        return
                    }
                    #expect(reason.contains("open files"))
                    let b = watched.path("b")
                    link("\(watched.path("a"))", "\(b)")
                    #expect(await eventually { watched.told.names == ["a", "b"] })
                }
                #expect(words.withLock { $0.filter { $0 == "polling" } }.count == 1)
                watched.monitor.stop()
                listening.cancel()
            }
        }
    #endif

    @Test("No descriptor left later: it is away, said once, and back with what was missed")
    func noDescriptorLater() async throws {
        await #expect(processExitsWith: .success) {
            let watched = try Monitored(.system)
            try watched.write("1", to: "a")
            try watched.monitor.start()
            #expect(await eventually { watched.told.names == ["a"] })
            let before = watched.monitor.state.word
            let words = Mutex<[String]>([])
            let listening = watched.monitor.addStateListener { @Sendable state in
                words.withLock { $0.append(state.word) }
            }
            #expect(await eventually { words.withLock { $0.count } == 1 })
            try await withDescriptors(free: 0) {
                // Needs no descriptor.
                link("\(watched.path("a"))", "\(watched.path("b"))")
                #expect(await eventually { watched.monitor.state.isAway })
                #expect(watched.told.names == ["a"])
            }
            #expect(await eventually { watched.told.names == ["a", "b"] })
            #expect(await eventually { words.withLock { $0.last } == before })
            #expect(words.withLock { $0 } == [before, "away", before])
            #expect(watched.told.faults.isEmpty)
            watched.monitor.stop()
            listening.cancel()
        }
    }

    #if os(Linux) && !DROPMILL_KQUEUE
        @Test("Beyond the limit of watches it polls, and says so with the remedy")
        func fewWatches() async throws {
            await #expect(processExitsWith: .success) {
                // The one instance of the process, as long as this one runs.
                let first = try Monitored(.inotify)
                try first.monitor.start()
                (SharedEvents.current(.inotify) as? InotifyEvents)?.limit(toWatches: 1)
                let second = try Monitored(.inotify)
                try second.monitor.start()
                guard case .polling(_, let reason) = second.monitor.state else {
                    Issue.record("\(second.monitor.state)")
                    return
                }
                #expect(reason.contains("fs.inotify.max_user_watches"))
                try second.write("1", to: "a")
                #expect(await eventually { second.told.names == ["a"] })
                second.monitor.stop()
                first.monitor.stop()
            }
        }
    #endif
}

/// Leaves the process so many descriptors while the body runs.
private func withDescriptors(free: Int, _ body: () async throws -> Void) async throws {
    var taken: [Int32] = []
    while true {
        let next = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard next >= 0 else { break }
        taken.append(next)
    }
    for _ in 0..<min(free, taken.count) { if let last = taken.popLast() { close(last) } }
    defer { taken.forEach { close($0) } }
    try await body()
}

/// Dispatch opens a few descriptors with the first timer of each clock, and the process ends where it cannot; a task
/// that waits has one, too. A timer that was only begun may have none yet: each is waited for.
private func warmUp(_ kind: SystemEvents.Kind) async throws {
    _ = await eventually(within: .milliseconds(1)) { false }
    await withCheckedContinuation { fired in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { @Sendable in fired.resume() }
    }
    await withCheckedContinuation { fired in
        DispatchQueue.global().asyncAfter(wallDeadline: .now() + .milliseconds(1)) { @Sendable in fired.resume() }
    }
    let watched = try Monitored(kind)
    try watched.monitor.start()
    watched.monitor.stop()
}

/// As many descriptors as the system allows: the double of kqueue takes one for each watch, as kqueue does.
private func raiseLimit() {
    #if os(Linux)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        let resource = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    getrlimit(resource, &limit)
    limit.rlim_cur = min(limit.rlim_max, 16_384)
    setrlimit(resource, &limit)
}

/// What the process holds.
private struct Held {
    let descriptors: [String]
    let threads: Int
    /// Threads that read events.
    let eventThreads: Int
    /// Instances of inotify; that of the double is one, too.
    let instances: Int

    static func now() -> Held {
        let threads = names("/proc/self/task").map { thread in
            let name = try? ScratchFolder.read(FilePath("/proc/self/task").appending(thread).appending("comm"))
            return String(decoding: name ?? [], as: UTF8.self)
        }
        // Without the numbers of what is open, and what Dispatch keeps for its timers.
        let descriptors = names("/proc/self/fd").map {
            ScratchFolder.target(of: FilePath("/proc/self/fd").appending($0)).filter { !$0.isNumber }
        }.filter { !["eventfd", "eventpoll", "timerfd"].contains(where: $0.contains) }
        return Held(
            descriptors: descriptors.sorted(), threads: threads.count,
            eventThreads: threads.count {
                $0 == "dropmill.events\n"
            },
            instances: descriptors.count { $0.contains("inotify") })
    }

    private static func names(_ folder: FilePath) -> [FileName] {
        // One that goes meanwhile is none.
        (try? Folder.names(in: folder)) ?? []
    }
}

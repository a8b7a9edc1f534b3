@preconcurrency import Dispatch
import Files
import Platform
import Synchronization
import SystemPackage
import TestTools
import Testing

@testable import FolderWatch

@Suite("SettledFolder", .timeLimit(.minutes(5))) struct SettledFolderTests {
    private static let quiet = Duration.milliseconds(150)

    private let scratch: ScratchFolder
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        path = try scratch.makeFolder("folder")
    }

    private func folder(
        _ kind: SystemEvents.Kind, quiet: Duration = quiet, samples: Int = 2, precision: SettledFolder.Precision = .full
    ) -> SettledFolder {
        var options = SettledFolder.Options()
        (options.quiet, options.samples, options.precision) = (quiet, samples, precision)
        options.monitor = .quick(kind)
        return SettledFolder(path, options: options)
    }

    /// What was told, when: names of files, and those of the whole folder.
    private typealias Told = Gathered<(event: SettledFolder.Event, time: MonotonicTime)>

    private func listen(_ folder: SettledFolder) -> (told: Told, listening: Listening) {
        let told = Told()
        return (told, folder.addListener { told.add(($0, .now())) })
    }

    private func files(_ told: Told) -> [String] {
        told.all.compactMap { if case .settled(let entry) = $0.event { "\(entry)" } else { nil } }
    }

    private func folders(_ told: Told) -> [[String]] {
        told.all.compactMap { if case .settledFolder(let all) = $0.event { all.map { "\($0)" } } else { nil } }
    }

    /// The sizes that a file was told with, by itself.
    private func sizes(_ name: String, _ told: Told) -> [Int] {
        told.all.compactMap {
            if case .settled(let entry) = $0.event, "\(entry)" == name { Int(entry.size) } else { nil }
        }
    }

    private func rename(_ old: String, _ new: String) throws {
        let result = scratch.path(old).withPlatformString { old in
            scratch.path(new).withPlatformString { Platform.rename(old, $0) }
        }
        try #require(result == 0)
    }

    @Test("Each file is told once, then the folder, not before the quiet time", arguments: SystemEvents.Kind.allCases)
    func settled(_ kind: SystemEvents.Kind) async throws {
        try scratch.write("1", to: "folder/b")
        let folder = folder(kind)
        let (told, listening) = listen(folder)
        let started = MonotonicTime.now()
        try folder.start()
        #expect(folder.isRunning)
        try await #require(eventually { folders(told) == [["b"]] })
        #expect(files(told) == ["b"])
        #expect(told.all.allSatisfy { $0.time - started >= Self.quiet })
        let written = MonotonicTime.now()
        try scratch.write("2", to: "folder/a")
        try scratch.makeFolder("folder/c")
        try scratch.link("folder/d", to: "nowhere")
        try await #require(eventually { folders(told).count == 2 })
        #expect(folders(told).last == ["a", "b", "c", "d"])
        #expect(files(told).first == "b")
        #expect(Set(files(told)) == ["a", "b", "c", "d"])
        #expect(files(told).count == 4)
        #expect(told.all[2...].allSatisfy { $0.time - written >= Self.quiet })
        withExtendedLifetime(listening) {}
    }

    @Test("An empty folder comes to rest, too", arguments: SystemEvents.Kind.allCases)
    func empty(_ kind: SystemEvents.Kind) async throws {
        let folder = folder(kind)
        let (told, listening) = listen(folder)
        try folder.start()
        try await #require(eventually { folders(told) == [[]] })
        try scratch.write("1", to: "folder/a")
        try await #require(eventually { folders(told) == [[], ["a"]] })
        try #require(scratch.path("folder/a").withPlatformString { unlink($0) } == 0)
        try await #require(eventually { folders(told) == [[], ["a"], []] })
        #expect(files(told) == ["a"])
        withExtendedLifetime(listening) {}
    }

    @Test("A slow writer is waited for", arguments: SystemEvents.Kind.allCases)
    func slow(_ kind: SystemEvents.Kind) async throws {
        let folder = folder(kind)
        let (told, listening) = listen(folder)
        try folder.start()
        try scratch.write("done", to: "folder/done")
        /// When each byte was about to be written.
        var bytes: [MonotonicTime] = []
        repeat {
            bytes.append(.now())
            try scratch.append([1], to: scratch.path("folder/slow"))
        } while await !eventually(within: .milliseconds(20), { files(told).contains("done") })
        // Where the writer is held up itself, `slow` may have been told before `done`, and is not told again.
        try await #require(
            eventually { folders(told).last == ["done", "slow"] && sizes("slow", told).last == bytes.count })
        for (event, time) in told.all {
            let entries =
                switch event {
                case .settled(let entry): [entry]
                case .settledFolder(let all): all
                }
            for entry in entries where "\(entry)" == "slow" {
                let last = try #require(bytes.prefix(max(1, Int(entry.size))).last)
                #expect(time - last >= Self.quiet)
            }
        }
        #expect(folders(told).count { $0 == ["done", "slow"] } <= files(told).count { $0 == "slow" })
        withExtendedLifetime(listening) {}
    }

    @Test("So many looks take so many quiet times", arguments: SystemEvents.Kind.allCases)
    func samples(_ kind: SystemEvents.Kind) async throws {
        try scratch.write("1", to: "folder/a")
        let folder = folder(kind, samples: 3)
        let (told, listening) = listen(folder)
        let started = MonotonicTime.now()
        try folder.start()
        try await #require(eventually { folders(told) == [["a"]] && files(told) == ["a"] })
        #expect(told.all.allSatisfy { $0.time - started >= Self.quiet * 2 })
        withExtendedLifetime(listening) {}
    }

    @Test("A file and the folder are told again after a change", arguments: SystemEvents.Kind.allCases)
    func again(_ kind: SystemEvents.Kind) async throws {
        try scratch.write("1", to: "folder/a")
        try scratch.write("1", to: "folder/b")
        let folder = folder(kind)
        let (told, listening) = listen(folder)
        try folder.start()
        try await #require(eventually { folders(told).count == 1 && files(told).count == 2 })
        try scratch.append([0x32], to: scratch.path("folder/a"))
        try await #require(eventually { folders(told).count == 2 && files(told).count == 3 })
        try #require(scratch.path("folder/a").withPlatformString { chmod($0, 0o600) } == 0)
        try await #require(eventually { folders(told).count == 3 && files(told).count == 4 })
        try scratch.write("new", to: "tmp")
        try rename("tmp", "folder/a")
        try await #require(eventually { folders(told).count == 4 && files(told).count == 5 })
        #expect(files(told)[2...].allSatisfy { $0 == "a" })
        withExtendedLifetime(listening) {}
    }

    @Test("By names and sizes alone, a touch or a chmod changes nothing", arguments: SystemEvents.Kind.allCases)
    func seed(_ kind: SystemEvents.Kind) async throws {
        try scratch.write("1", to: "folder/a")
        let folder = folder(kind, precision: .seed)
        let (told, listening) = listen(folder)
        try folder.start()
        try await #require(eventually { folders(told).count == 1 })
        let a = scratch.path("folder/a")
        try #require(a.withPlatformString { utimes($0, nil) } == 0)
        try #require(a.withPlatformString { chmod($0, 0o600) } == 0)
        try scratch.write("2", to: "tmp")
        try rename("tmp", "folder/a")
        // What is told next is of what comes later: had the others counted, they would be told first or with it.
        try scratch.write("other", to: "folder/b")
        try await #require(eventually { folders(told).count == 2 })
        #expect(files(told) == ["a", "b"])
        try scratch.append([1], to: a)
        try await #require(eventually { folders(told).count == 3 })
        #expect(files(told) == ["a", "b", "a"])
        withExtendedLifetime(listening) {}
    }

    @Test("Who listens later is told what has come to rest", arguments: SystemEvents.Kind.allCases)
    func later(_ kind: SystemEvents.Kind) async throws {
        try scratch.write("1", to: "folder/b")
        try scratch.write("1", to: "folder/a")
        let folder = folder(kind)
        let first = listen(folder)
        try folder.start()
        try await #require(eventually { folders(first.told).count == 1 })
        let second = listen(folder)
        try await #require(eventually { folders(second.told) == [["a", "b"]] })
        #expect(files(second.told) == ["a", "b"])
        var events = folder.events.makeAsyncIterator()
        for name in ["a", "b"] {
            guard case .settled(let entry)? = await events.next(isolation: nil) else { throw Unexpected() }
            #expect("\(entry)" == name)
        }
        guard case .settledFolder(let all)? = await events.next(isolation: nil) else { throw Unexpected() }
        #expect(all.map { "\($0)" } == ["a", "b"])
    }

    private struct Unexpected: Error {}

    @Test("The folder may be away and come back", arguments: SystemEvents.Kind.allCases)
    func away(_ kind: SystemEvents.Kind) async throws {
        try scratch.write("1", to: "folder/a")
        let folder = folder(kind)
        let (told, listening) = listen(folder)
        try folder.start()
        try await #require(eventually { folders(told).count == 1 })
        try scratch.write("2", to: "folder/b")
        try rename("folder", "away")
        try await #require(eventually { if case .away = folder.state { true } else { false } })
        #expect(folder.isRunning)
        try scratch.write("3", to: "away/c")
        let back = MonotonicTime.now()
        try rename("away", "folder")
        try await #require(eventually { folders(told).last == ["a", "b", "c"] })
        #expect(files(told).count { $0 == "c" } == 1)
        #expect(try #require(told.all.last).time - back >= Self.quiet)
        withExtendedLifetime(listening) {}
    }

    @Test("What changes while a listener blocks is not told as settled", arguments: SystemEvents.Kind.allCases)
    func blocked(_ kind: SystemEvents.Kind) async throws {
        for name in ["a", "b", "c"] { try scratch.write("1", to: "folder/" + name) }
        let folder = folder(kind)
        let gate = DispatchSemaphore(value: 0)
        let slow = Told()
        let slowListening = folder.addListener { event in
            slow.add((event, .now()))
            if slow.all.count == 1 { gate.wait() }
        }
        let (quick, listening) = listen(folder)
        try folder.start()
        try await #require(eventually { folders(quick).count == 1 && slow.all.count == 1 })
        let taken = try #require(files(slow).first)
        let removed = try #require(["a", "b", "c"].first { $0 != taken })
        try #require(scratch.path("folder/" + removed).withPlatformString { unlink($0) } == 0)
        let rest = ["a", "b", "c"].filter { $0 != removed }
        try await #require(eventually { folders(quick).count == 2 })
        gate.signal()
        try await #require(eventually { !folders(slow).isEmpty })
        #expect(folders(slow) == [rest])
        #expect(Set(files(slow)) == Set(rest))
        #expect(files(slow).count == 2)
        withExtendedLifetime((slowListening, listening)) {}
    }

    @Test("Stopped while it waits and started again, it goes on", arguments: SystemEvents.Kind.allCases)
    func restarted(_ kind: SystemEvents.Kind) async throws {
        try scratch.write("1", to: "folder/a")
        let folder = folder(kind)
        let (told, listening) = listen(folder)
        try folder.start()
        folder.stop()
        folder.stop()
        #expect(!folder.isRunning)
        try folder.start()
        try folder.start()
        try await #require(eventually { folders(told) == [["a"]] })
        folder.stop()
        try scratch.write("2", to: "folder/b")
        // While it is stopped nobody is told what had settled.
        let late = listen(folder)
        let task = Task { [events = folder.events] in
            for await case .settledFolder(let all) in events { return all.map { "\($0)" } }
            return []
        }
        try folder.restart()
        try await #require(eventually { folders(told) == [["a"], ["a", "b"]] })
        try await #require(eventually { folders(late.told) == [["a", "b"]] })
        #expect(await task.value == ["a", "b"])
        #expect(files(told) == ["a", "b"])
        withExtendedLifetime((listening, late.listening)) {}
    }

    @Test("A listener may stop it, and the last reference ends iterations, also those that begin later")
    func ended() async throws {
        try scratch.write("1", to: "folder/a")
        var folder: SettledFolder? = folder(.system)
        let events = try #require(folder?.events)
        let stopped = Atomic(false)
        let listening = folder?.addListener { [weak folder] _ in
            folder?.stop()
            stopped.store(true, ordering: .releasing)
        }
        // A task might begin after the stop, which it would outlive.
        var early = events.makeAsyncIterator()
        try folder?.start()
        try await #require(eventually { stopped.load(ordering: .acquiring) })
        while await early.next(isolation: nil) != nil {}
        #expect(folder?.isRunning == false)
        folder = nil
        for await _ in events {}
        withExtendedLifetime(listening) {}
    }

    @Test("What cannot be watched is refused, and times and counts may be as large as they come")
    func refused() throws {
        let absent = SettledFolder(scratch.path("absent"))
        let error = #expect(throws: WatchError.self) { try absent.start() }
        #expect(error?.errno == .noSuchFileOrDirectory)
        #expect(!absent.isRunning)
        try scratch.write("1", to: "folder/a")
        for quiet in [Duration.seconds(Int64.max), .seconds(-1), .zero] {
            for samples in [Int.min, Int.max] {
                let folder = folder(.system, quiet: quiet, samples: samples)
                try folder.start()
                folder.stop()
            }
        }
    }
}

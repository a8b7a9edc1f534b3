import Files
import Platform
import Synchronization
import SystemPackage
import TestTools
import Testing

@testable import FolderWatch

@Suite("SettledFolder: what may not be examined")
struct UnexaminableTests {
    @Test("What may not be examined never comes to rest", .enabled(if: geteuid() == 0))
    func unexaminable() async throws {
        // As another user, and so as another process.
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchFolder()
            chmod("\(scratch.path)", 0o755)
            let folder = try scratch.makeFolder("watched")
            try scratch.write("1", to: "watched/a")
            let other = try scratch.makeFolder("control")
            try scratch.write("1", to: "control/a")
            chmod("\(folder)", 0o744)
            try #require(setegid(65534) == 0 && seteuid(65534) == 0)
            var options = SettledFolder.Options()
            options.quiet = .milliseconds(20)
            options.monitor = .quick(.none)
            let settled = SettledFolder(folder, options: options)
            let events = Mutex<[SettledFolder.Event]>([])
            let listening = settled.addListener { @Sendable event in events.withLock { $0.append(event) } }
            let told = Told()
            let monitor = FolderMonitor(folder, options: options.monitor)
            let others = monitor.addListener { @Sendable in told.take($0) }
            try monitor.start()
            try settled.start()
            #expect(await eventually { told.entries.map(\.kind) == [.unknown] })
            // What began later has come to rest meanwhile.
            let control = SettledFolder(other, options: options)
            let rested = Mutex(false)
            let watching = control.addListener { @Sendable event in
                if case .settledFolder = event { rested.withLock { $0 = true } }
            }
            try control.start()
            #expect(await eventually { rested.withLock { $0 } })
            #expect(events.withLock { $0.isEmpty })
            control.stop()
            watching.cancel()
            try #require(seteuid(0) == 0 && setegid(0) == 0)
            chmod("\(folder)", 0o755)
            #expect(await eventually { events.withLock { $0.count } >= 2 })
            let names = events.withLock { events in
                events.compactMap { event in if case .settled(let entry) = event { entry.kind } else { nil } }
            }
            #expect(names == [.file], "not as something unknown before")
            listening.cancel()
            others.cancel()
            monitor.stop()
            settled.stop()
        }
    }
}

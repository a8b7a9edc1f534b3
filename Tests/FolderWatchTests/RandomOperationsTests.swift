@preconcurrency import Dispatch
import Files
import Platform
import SystemPackage
import TestTools
import Testing

@testable import FolderWatch

/// Somebody who does all that can be done to a folder's names and files, as a seed says.
private struct Actor {
    var generator: SeededGenerator
    let watched: Monitored
    let outside: FilePath

    init(seed: UInt64, _ watched: Monitored) throws {
        generator = SeededGenerator(seed: seed)
        self.watched = watched
        outside = try watched.scratch.makeFolder("outside")
    }

    private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    private mutating func name() -> FilePath { watched.path("n\(pick(40))") }

    mutating func act() throws {
        let (path, other) = (name(), outside.appending("o\(pick(10))"))
        switch pick(12) {
        case 0...2: try write("\(pick(1000))", to: path, O_TRUNC)
        case 3, 4: try write("more", to: path, O_APPEND)
        case 5:
            try write("\(pick(1000))", to: other, O_TRUNC)
            rename("\(other)", "\(path)")
        case 6: rename("\(path)", "\(other)")
        case 7: rename("\(path)", "\(name())")
        case 8, 9:
            unlink("\(path)")
            rmdir("\(path)")
        case 10: mkdir("\(path)", 0o755)
        default: chmod("\(path)", 0o600 | mode_t(pick(8)))
        }
    }

    /// Where a folder has the name, nothing is written.
    private func write(_ text: String, to path: FilePath, _ flag: Int32) throws {
        do throws(IOError) {
            let file = try OpenFile.open(path, O_WRONLY | O_CREAT | flag, mode: 0o644)
            try file.write(Array(text.utf8))
        } catch {
            guard error.errno == .isDirectory else { throw error }
        }
    }
}

@Suite("FolderMonitor: what is told adds up to what is there, whatever is done")
struct RandomOperationsTests {
    private static let seed: UInt64 = ProcessInfo.seed

    @Test(
        "10,000 operations with rests, bursts, lost events, stops and starts",
        arguments: SystemEvents.Kind.allCases, [256, 5])
    func random(kind: SystemEvents.Kind, mostWatchedFiles: Int) async throws {
        // How many files are watched makes no difference to the others.
        guard kind.watchesFiles || mostWatchedFiles == 256 else { return }
        let seed = Self.seed
        print("FolderMonitor, \(kind), \(mostWatchedFiles) files watched: seed \(seed)")
        let watched = try Monitored(kind) { $0.mostWatchedFiles = mostWatchedFiles }
        var actor = try Actor(seed: seed, watched)
        try watched.monitor.start()
        var done = 0
        var rests = 0
        while done < 10_000 {
            let isBurst = rests % 40 == 39
            for _ in 0..<(isBurst ? 1000 : 45) { try actor.act() }
            done += isBurst ? 1000 : 45
            if rests % 25 == 12 {
                watched.monitor.stop()
                for _ in 0..<20 { try actor.act() }
                try watched.monitor.start()
            }
            rests += 1
            let isTold = try await eventually { try watched.isTold() }
            let missed = try Set(watched.listing()).symmetricDifference(watched.told.entries)
            #expect(isTold, "seed \(seed), \(kind), after \(done) operations: \(missed)")
            #expect(watched.told.faults.isEmpty, "seed \(seed), \(kind), after \(done) operations")
            guard isTold, watched.told.faults.isEmpty else { return }
            #expect(watched.monitor.contents == watched.told.entries)
        }
    }

    #if os(Linux)
        @Test("More events than the kernel keeps: all is told as one difference")
        func overflow() async throws {
            let watched = try Monitored(.inotify)
            try watched.monitor.start()
            #expect(await eventually { watched.told.isListed })
            let inotify = try #require(SharedEvents.current(.inotify) as? InotifyEvents)
            let text = String(decoding: try ScratchFolder.read("/proc/sys/fs/inotify/max_queued_events"), as: UTF8.self)
            let most = try #require(Int(text.filter(\.isNumber)))
            let gate = Gate()
            inotify.whileNotReading { gate.wait() }
            // Each file is made, written to and closed.
            for number in 0..<(most / 3 + 1) { try watched.write("1", to: "\(number)") }
            for number in 0..<(most / 6) { unlink("\(watched.path("\(number)"))") }
            gate.open()
            #expect(try await eventually { try watched.isTold() })
            #expect(watched.told.faults.isEmpty)
        }
    #endif
}

extension SystemEvents.Kind {
    /// Whether files are watched one by one.
    fileprivate var watchesFiles: Bool {
        let events = SystemEvents.open(self)
        defer { events.stop() }
        return !events.tellsOfWrites
    }
}

private enum ProcessInfo {
    /// Another one in each run, or the one to run again.
    static var seed: UInt64 {
        getenv("DROPMILL_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 0..<1_000_000)
    }
}

@preconcurrency import Dispatch
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import Readiness

/// What anybody can make the file system say of a file, and what the daemon must live with.
@Suite("Strange times and sizes", .timeLimit(.minutes(5))) struct StrangeNumbersTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private static let seconds = [1 << 33, 1 << 34, 1 << 62, -(1 << 62)]
    private static let largest: Int64 = .max

    private func set(_ path: FilePath, to seconds: Int) throws {
        let times = [timespec(tv_sec: seconds, tv_nsec: 7), timespec(tv_sec: seconds, tv_nsec: 7)]
        guard path.withPlatformString({ utimensat(AT_FDCWD, $0, times, 0) }) == 0 else {
            throw IOError("set the times of", path, .last)
        }
    }

    /// A file of the most bytes that a file can have, which takes up none.
    private func makeHuge(_ path: FilePath) throws {
        let file = try OpenFile.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        guard ftruncate(file.descriptor, Int(Self.largest)) == 0 else { throw IOError("size", path, .last) }
        try file.close()
    }

    /// Drops of all these times, as files and as folders, are processed as any other.
    private func process(in folder: FilePath) async throws {
        for unit in ReadyRule.Unit.allCases {
            let inbox = folder.appending("inbox-\(unit)")
            let engine = try EngineHarness(scratch: scratch, stages: [.passing]) {
                $0 = Pipeline(
                    name: "test", source: "test.yaml", inbox: inbox,
                    processed: .folder(folder.appending("processed-\(unit)")),
                    failed: folder.appending("failed-\(unit)"),
                    ready: ReadyRule(quiet: .milliseconds(50), unit: unit), order: .oldest, durability: .fast,
                    minFree: ByteSize(bytes: 0), stages: [.passing])
            }
            for seconds in Self.seconds {
                let path = inbox.appending("at\(seconds)")
                let file = unit == .folder ? path.appending("file") : path
                try scratch.write([1], to: file)
                try set(file, to: seconds)
                if unit == .folder { try set(path, to: seconds) }
            }
            try engine.start()
            #expect(await eventually { engine.reports.count == Self.seconds.count })
            #expect(engine.reports.allSatisfy { $0.outcome == .processed })
            _ = await engine.stop()
        }
    }

    @Test("A file or folder of any time is processed") func times() async throws {
        try await process(in: scratch.path)
    }

    @Test("On tmpfs too, which keeps every time", .enabled(if: TemporaryMount.isPossible, "needs root"))
    func timesOnTmpfs() async throws {
        let mount = try TemporaryMount(tmpfs: "size=4m", at: scratch.path("tmpfs"))
        try await process(in: mount.path)
    }

    @Test("On ext4 too, which clamps them", .enabled(if: DiskImage.isPossible, Comment(rawValue: DiskImage.skip)))
    func timesOnExt4() async throws {
        let disk = try DiskImage(at: scratch.path("disk"))
        try await process(in: disk.path)
    }

    @Test(
        "Two files of 8 EiB − 1 are active together, and lie in one folder",
        .enabled(if: TemporaryMount.isPossible, "needs root"), arguments: ReadyRule.Unit.allCases)
    func sizes(unit: ReadyRule.Unit) async throws {
        let mount = try TemporaryMount(tmpfs: "size=4m", at: scratch.path("tmpfs"))
        let inbox = mount.path.appending("inbox")
        let mayEnd = DispatchSemaphore(value: 0)
        let stage = StageEntry.fake(workers: 2) { (payload, _) throws(Failure) in
            mayEnd.wait()
            return payload
        }
        let engine = try EngineHarness(scratch: scratch, stages: [stage]) {
            $0 = Pipeline(
                name: "test", source: "test.yaml", inbox: inbox, processed: .folder(mount.path.appending("processed")),
                failed: mount.path.appending("failed"),
                ready: ReadyRule(
                    quiet: .milliseconds(50), unit: unit, limits: ReadyRule.Limits(size: ByteSize(bytes: .max))),
                durability: .fast, minFree: ByteSize(bytes: 0), stages: [stage])
        }
        let folder = unit == .folder ? inbox.appending("both") : inbox
        try Folder.make(folder)
        for name in ["a", "b"] { try makeHuge(folder.appending(name)) }
        try engine.start()
        let claims = unit == .folder ? 1 : 2
        #expect(
            await eventually {
                engine.events.count { if case .claimed = $0 { true } else { false } } == claims
            })
        for _ in 0..<claims { mayEnd.signal() }
        #expect(await eventually { engine.reports.count == claims })
        #expect(engine.reports.allSatisfy { $0.outcome == .processed && $0.job.drop.size == Self.largest })
        _ = await engine.stop()
    }

    @Test("A file that grows by 8 EiB in a moment has a rate that can be told")
    func rate() {
        var gate = ReadyGate(rule: ReadyRule(quiet: .seconds(1)))
        func sample(_ size: Int64, at milliseconds: Int64) {
            let now = MonotonicTime(nanoseconds: milliseconds * 1_000_000)
            gate.touch(1, at: now)
            let state = Fingerprint(
                device: 1, inode: 1, size: size, modified: FileTime(seconds: 1), changed: FileTime(seconds: 1))
            for request in gate.due(at: now + .milliseconds(10)) {
                _ = gate.record(.file(state, .none), of: request.key, at: now + .milliseconds(10))
            }
        }
        sample(0, at: 0)
        sample(Self.largest, at: 100)
        guard case .growing(.max, _, _)? = gate.waiting(for: 1, at: MonotonicTime(nanoseconds: 200_000_000)) else {
            Issue.record("\(String(describing: gate.waiting(for: 1, at: MonotonicTime(nanoseconds: 200_000_000))))")
            return
        }
    }
}

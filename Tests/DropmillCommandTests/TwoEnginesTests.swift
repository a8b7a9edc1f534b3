import BuiltinStages
import Files
import PipelineConfig
import PipelineEngine
import PipelineKit
import SQLiteJournal
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Nothing is the process's: engines beside each other do not know of each other.
@Suite struct TwoEnginesTests {
    /// An engine with folders, kinds and helpers of its own.
    private final class Mill: Sendable {
        let scratch: ScratchFolder
        private let engine: Engine
        private let summary = Mutex<RunSummary?>(nil)
        private let reason = Reason()

        /// Why it last paused.
        private final class Reason: Sendable { let code = Mutex<String?>(nil) }

        var pauseCode: String? { reason.code.withLock { $0 } }

        init(_ stages: String, unpackingBy program: FilePath?) throws {
            scratch = try ScratchFolder()
            let text = "inbox: in\nprocessed: done\nfailed: failed\nready: { quiet: 50ms }\nstages: \(stages)\n"
            let file = try scratch.write(text, to: "mill.yaml")
            var kinds = StageRegistry.builtin
            if let program { kinds.services.add(UnpackProgram(program, ["unpack-worker"])) }
            engine = Engine(
                pipelines: try PipelineLoader(registry: kinds, environment: [:]).load([file]),
                configuration: EngineConfiguration(
                    state: scratch.path("state"), journal: SQLiteStore(in: scratch.path("state")))
            ) { @Sendable [reason] event in
                if case .paused(_, let failure) = event { reason.code.withLock { $0 = failure.code } }
            }
        }

        func start() throws {
            try engine.start { @Sendable [self] summary in self.summary.withLock { $0 = summary } }
        }

        func stop() async -> RunSummary? {
            engine.stop(grace: .seconds(10))
            _ = await eventually { self.summary.withLock { $0 } != nil }
            return summary.withLock { $0 }
        }

        func holds(_ path: String) -> Bool { Folder.kind(of: scratch.path(path)) == .regular }
    }

    private static let archive: [UInt8] = {
        var zip = ZipBuilder()
        zip.add("a.txt", content: "a")
        return zip.finished
    }()

    @Test func neitherAffectsTheOther() async throws {
        let unpacking = try Mill("[unpack, move: { to: 'out/{stem}' }]", unpackingBy: DropmillProcess.binary)
        let hashing = try Mill("[checksum, move: { to: out }]", unpackingBy: nil)
        try unpacking.start()
        try hashing.start()
        try unpacking.scratch.write(Self.archive, to: unpacking.scratch.path("in/one.zip"))
        try hashing.scratch.write(Self.archive, to: hashing.scratch.path("in/one.zip"))
        #expect(await eventually { unpacking.holds("out/one/a.txt") && unpacking.holds("done/one.zip") })
        #expect(await eventually { hashing.holds("out/one.zip") && hashing.holds("out/one.zip.sha256") })
        let summary = await unpacking.stop()
        #expect(summary?.processed == 1 && summary?.failed == 0)
        // The one that is left goes on.
        try hashing.scratch.write("two", to: "in/two.txt")
        #expect(await eventually { hashing.holds("out/two.txt.sha256") })
        let other = await hashing.stop()
        #expect(other?.processed == 2 && other?.failed == 0)
    }

    /// Which program unpacks is what each was given, not what the last one was.
    @Test func eachHasItsOwnHelpers() async throws {
        let stages = "[unpack, move: { to: 'out/{stem}' }]"
        let able = try Mill(stages, unpackingBy: DropmillProcess.binary)
        let unable = try Mill(stages, unpackingBy: nil)
        try unable.start()
        try able.start()
        try unable.scratch.write(Self.archive, to: unable.scratch.path("in/one.zip"))
        try able.scratch.write(Self.archive, to: able.scratch.path("in/one.zip"))
        #expect(await eventually { able.holds("out/one/a.txt") && able.holds("done/one.zip") })
        #expect(await eventually { unable.pauseCode == "unpack.no-program" })
        let summary = await unable.stop()
        #expect(summary?.processed == 0 && !unable.holds("out/one/a.txt"))
        #expect(await able.stop()?.processed == 1)
    }
}

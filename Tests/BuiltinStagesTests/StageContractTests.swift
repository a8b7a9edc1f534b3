import BuiltinStages
import Dispatch
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// What every stage kind must do, whatever else it does. A kind that needs options names them in `options`.
@Suite struct StageContractTests {
    /// One kind on one input.
    struct Case: Sendable, CustomTestStringConvertible {
        let kind: String
        let input: Input
        var testDescription: String { "\(kind), \(input)" }
    }

    enum Input: CaseIterable, Sendable {
        case plainFile, archive, folder
    }

    static let allKinds = StageRegistry.builtin.descriptors.map(\.kind)
    static let kinds = allKinds.filter { !needsOthers.contains($0) }
    static let cases = kinds.flatMap { kind in Input.allCases.map { Case(kind: kind, input: $0) } }

    /// What kinds need to work on any payload.
    private static let needed: [String: Options] = [
        "move": ["to": "out/{stem}"], "verify": ["require": "false"],
        "http": ["url": "http://127.0.0.1:1/"], "scan": ["socket": "no/such/socket"],
        "copy": ["to": "out/{stem}"], "rename": ["to": "x-{name}"], "select": ["drop": "a", "require": "false"],
        "run": ["command": ["cp", "-R", "{file}", "{name}"], "output": "replace"],
    ]

    private func options(_ kind: String) -> Options { Self.needed[kind] ?? [:] }

    /// What a server or a daemon is needed for is tested with one, in its own suite; here is what holds without: where
    /// there is none, that is no fault of the file.
    private static let needsOthers: Set<String> = ["http", "scan"]

    @Test(arguments: needsOthers)
    func nobodyAnswers(kind: String) throws {
        let fixture = try StageFixture(drop: "drop.bin", Self.content)
        let failure = try fixture.failure(kind, Self.needed[kind] ?? [:])
        #expect(failure.class == (kind == "http" ? .transient : .environment))
        #expect(!failure.remedy.isEmpty)
        #expect(try StageFixture.snapshot(fixture.payload).count == 1)
    }

    private static let content = [UInt8](repeating: 0x61, count: 3 << 20)

    private static let archive: [UInt8] = {
        var tar = TarBuilder()
        for index in 0..<3 { tar.add(Array("file \(index)".utf8), content: content) }
        return tar.finished
    }()

    private func make(_ input: Input, name: String = "drop.bin") throws -> (fixture: StageFixture, payload: Payload) {
        let fixture = try StageFixture(drop: name, input == .archive ? Self.archive : Self.content)
        if input != .folder { return (fixture, fixture.payload) }
        let text = String(decoding: Self.content, as: UTF8.self)
        return (fixture, try fixture.folderPayload([(Array("a".utf8), text), (Array("b/c".utf8), text)]))
    }

    @Test(arguments: cases)
    func twiceGivesTheSame(case: Case) throws {
        let (fixture, payload) = try make(`case`.input)
        let first = try fixture.run(`case`.kind, options(`case`.kind), on: payload)
        let snapshot = try StageFixture.snapshot(first)
        let second = try fixture.run(`case`.kind, options(`case`.kind), on: payload)
        #expect(first == second)
        #expect(try StageFixture.snapshot(second) == snapshot)
        // Also on what it did to the payload itself, where a crash came after it had finished.
        guard second.root == payload.root else { return }
        #expect(try fixture.run(`case`.kind, options(`case`.kind), on: second) == second)
        #expect(try StageFixture.snapshot(second) == snapshot)
    }

    @Test(arguments: cases)
    func calledOffBeforeItBegins(case: Case) throws {
        let (fixture, payload) = try make(`case`.input)
        if `case`.kind == "unpack", `case`.input == .folder { return }
        let cancellation = Cancellation()
        cancellation.cancel()
        let before = try StageFixture.snapshot(payload)
        #expect(throws: StageFailure.cancelled) {
            try fixture.run(`case`.kind, options(`case`.kind), on: payload, cancellation: cancellation)
        }
        #expect(try StageFixture.snapshot(payload) == before)
    }

    /// With nothing in it, and with very much (`DROPMILL_TORTURE=1`: 100,000 files).
    @Test(arguments: kinds)
    func folders(kind: String) throws {
        for count in [0, getenv("DROPMILL_TORTURE") == nil ? 1000 : 100_000] {
            let fixture = try StageFixture(drop: "drop.zip", [1])
            let payload = try fixture.folderPayload([])
            var source = payload.root
            for number in 0..<count {
                let folder = payload.root.appending("\(number % 100)")
                if number < 100 { try Folder.make(folder) }
                let path = folder.appending("file \(number)")
                // Mostly links: making inodes is not what this is about, and one has room for 65,000 names on ext4.
                if number % 10_000 == 0 {
                    source = try fixture.scratch.write([1], to: path)
                } else {
                    let made = source.withPlatformString { from in path.withPlatformString { link(from, $0) } }
                    try #require(made == 0)
                }
            }
            let result = try fixture.run(kind, options(kind), on: payload)
            if result.shape == .folder { #expect(try result.files().count >= count) }
        }
    }

    /// A second thread calls the work off as soon as there is progress; a stage that has been through by then is run
    /// again.
    @Test(arguments: [("unpack", Input.archive), ("checksum", .plainFile), ("checksum", .folder)])
    func calledOffMidway(kind: String, input: Input) throws {
        for _ in 0..<50 {
            let (fixture, payload) = try make(input)
            let cancellation = Cancellation()
            let progress = StageProgress()
            let watcher = Watcher(progress, cancellation)
            defer { watcher.stop() }
            do {
                try fixture.run(kind, options(kind), on: payload, cancellation: cancellation, progress: progress)
            } catch let failure as StageFailure {
                #expect(failure == .cancelled)
                #expect(progress.bytes > 0)
                return
            }
        }
        Issue.record("the stage never noticed that it was called off")
    }

    @Test(arguments: kinds)
    func aNameThatIsNotUTF8(kind: String) throws {
        let name = try #require(FileName(Array("V".utf8) + [0xED] + Array("ctor.tar".utf8)))
        let fixture = try StageFixture(drop: name, Self.archive)
        let payload = try fixture.run(kind, options(kind))
        if case .file(let handedOn) = payload.shape {
            #expect(handedOn.bytes.contains(0xED), "the odd byte is kept as it is")
        }
        #expect(Folder.kind(of: payload.path) != nil)
    }

    /// Kinds that need no space of their own.
    private static let writingNothing: Set<String> = ["move", "verify", "detect", "dedupe", "rename", "select"]

    @Test(.enabled(if: SmallDisk.isPossible, "needs the right to mount a tmpfs"), arguments: kinds)
    func aFullDisk(kind: String) throws {
        let disk = try SmallDisk(bytes: 10 << 20)
        defer { disk.unmount() }
        let fixture = try StageFixture(
            drop: try #require(FileName("drop.tar")), Self.archive,
            in: disk.path.appending(try #require(FileName("job"))))
        // Nothing is left but what a folder or two need.
        var payload = fixture.payload
        if kind != "unpack" {
            payload = Payload(folder: disk.path)
            try disk.fill()
        }
        do {
            try fixture.run(kind, options(kind), on: payload)
            #expect(Self.writingNothing.contains(kind), "a stage that writes cannot have succeeded")
        } catch let failure as StageFailure {
            // One archive that does not fit where others may is no reason to pause; it is tried again as `retry` says.
            let isTooLarge = kind == "unpack" && failure.code == "archive.no-room"
            #expect(failure.class == (isTooLarge ? .transient : .environment), "\(failure)")
            #expect(!failure.remedy.isEmpty)
        }
    }
}

/// Calls work off once there is progress.
private final class Watcher: Sendable {
    private let done = Cancellation()

    init(_ progress: StageProgress, _ cancellation: Cancellation) {
        let done = done
        DispatchQueue(label: "watcher").async { @Sendable in
            while !done.isCancelled {
                if progress.bytes > 0 { return cancellation.cancel() }
                sched_yield()
            }
        }
    }

    func stop() { done.cancel() }
}

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

    /// The example of docs/adding-a-stage.md keeps the contract, too.
    static let allKinds = StageRegistry.builtin.descriptors.map(\.kind) + [StampStage.descriptor.kind]
    static let kinds = allKinds.filter { Self.servers[$0] != nil ? WebServer.isPossible : true }
    static let cases = kinds.flatMap { kind in Input.allCases.map { Case(kind: kind, input: $0) } }

    /// What kinds need to work on any payload.
    private static let needed: [String: [(String, Options)]] = [
        "move": [("to", "out/{stem}")], "verify": [("require", "false")],
        "http": [("body", "report"), ("url", "http://127.0.0.1:1/")], "scan": [("socket", "no/such/socket")],
        "copy": [("to", "out/{stem}")], "rename": [("to", "x-{name}")],
        "select": [("drop", "none"), ("require", "false")],
        "run": [("command", ["cp", "-R", "{file}", "{name}"]), ("output", "replace")],
    ]

    /// Kinds that ask a server.
    private static let servers: [String: StageFailure.Class] = ["http": .transient, "scan": .environment]

    /// The options of a kind, and the server that they speak of. `manner`: of a server that does not answer.
    private func options(
        _ kind: String, _ fixture: StageFixture, isSilent: Bool = false
    ) async throws -> (options: Options, server: AnyObject?) {
        var options = Self.needed[kind] ?? []
        var server: AnyObject?
        switch kind {
        case "http":
            let web = try await WebServer(fixture.scratch)
            options.removeAll { $0.0 == "url" || isSilent }
            options.append(("url", .text("http://127.0.0.1:\(web.port)\(isSilent ? "/slow" : "/")")))
            server = web
        case "scan":
            let clamd = try await FakeClamd(fixture.scratch, isSilent ? .silent : .usual)
            options = [("socket", .text(clamd.socket))]
            server = clamd
        case "run" where isSilent: options = [("command", ["sleep", "1000"])]
        default: break
        }
        return (.map(options), server)
    }

    /// Where there is no server, that is no fault of the file.
    @Test(arguments: servers)
    func nobodyAnswers(kind: String, class: StageFailure.Class) throws {
        let fixture = try StageFixture(drop: "drop.bin", Self.content)
        let failure = try fixture.failure(kind, .map(Self.needed[kind] ?? []))
        #expect(failure.class == `class`)
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
    func twiceGivesTheSame(case: Case) async throws {
        let (fixture, payload) = try make(`case`.input)
        let (options, server) = try await options(`case`.kind, fixture)
        defer { withExtendedLifetime(server) {} }
        let first = try fixture.run(`case`.kind, options, on: payload)
        let snapshot = try StageFixture.snapshot(first)
        let second = try fixture.run(`case`.kind, options, on: payload)
        #expect(first == second)
        #expect(try StageFixture.snapshot(second) == snapshot)
        // Also on what it did to the payload itself, where a crash came after it had finished.
        guard second.root == payload.root else { return }
        #expect(try fixture.run(`case`.kind, options, on: second) == second)
        #expect(try StageFixture.snapshot(second) == snapshot)
    }

    @Test(arguments: cases)
    func calledOffBeforeItBegins(case: Case) throws {
        let (fixture, payload) = try make(`case`.input)
        // What these do not touch they hand on.
        if ["unpack", "stamp"].contains(`case`.kind), `case`.input == .folder { return }
        let cancellation = Cancellation()
        cancellation.cancel()
        let before = try StageFixture.snapshot(payload)
        #expect(throws: StageFailure.cancelled) {
            try fixture.run(
                `case`.kind, .map(Self.needed[`case`.kind] ?? []), on: payload, cancellation: cancellation)
        }
        #expect(try StageFixture.snapshot(payload) == before)
    }

    /// With nothing in it, and with very much (`DROPMILL_TORTURE=1`: 100,000 files).
    @Test(arguments: kinds)
    func folders(kind: String) async throws {
        for count in [0, getenv("DROPMILL_TORTURE") == nil ? 1000 : 100_000] {
            let fixture = try StageFixture(drop: "drop.zip", [1])
            let (options, server) = try await options(kind, fixture)
            defer { withExtendedLifetime(server) {} }
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
            let result = try fixture.run(kind, options, on: payload)
            if result.shape == .folder { #expect(try result.files().count >= count) }
        }
    }

    /// A second thread calls the work off as soon as it has begun; a stage that has been through by then is run again.
    /// `move` is left out: it touches no data.
    @Test(arguments: kinds.filter { $0 != "move" })
    func calledOffMidway(kind: String) async throws {
        for _ in 0..<50 {
            let (fixture, payload) = try makeMuch(of: kind)
            let (options, server) = try await options(kind, fixture, isSilent: true)
            defer { withExtendedLifetime(server) {} }
            let before = try StageFixture.snapshot(payload)
            let cancellation = Cancellation()
            let progress = StageProgress()
            let sign = Self.sign(of: kind).map { fixture.scratch.path.pushing($0) }
            let watcher = Watcher(cancellation) { @Sendable in
                if let sign { return Self.isWritten(sign) }
                return progress.bytes > 0 || progress.entries > 0
            }
            defer { watcher.stop() }
            do {
                try fixture.run(kind, options, on: payload, cancellation: cancellation, progress: progress)
            } catch let failure as StageFailure {
                #expect(failure == .cancelled)
                #expect(cancellation.isCancelled)
                // Nothing of the payload is changed but for what the stage knows as its own.
                #expect(try StageFixture.snapshot(payload).filter(before.contains).count == before.count)
                return
            }
        }
        Issue.record("the stage never noticed that it was called off")
    }

    /// Enough for a stage not to be through with it at once.
    private func makeMuch(of kind: String) throws -> (fixture: StageFixture, payload: Payload) {
        switch kind {
        case "unpack": return try make(.archive)
        case "http", "scan", "run", "stamp": return try make(.plainFile)
        default:
            let fixture = try StageFixture(drop: "drop.bin", Self.content)
            let payload = try fixture.folderPayload((0..<1000).map { (Array("f\($0)".utf8), "content of \($0)") })
            if kind == "select" { try fixture.scratch.write("", to: "job/.payload/none") }
            if kind == "verify" { try fixture.run("checksum", on: payload, in: 1) }
            return (fixture, payload)
        }
    }

    /// The file by which one sees that a stage has begun that tells no progress until it is through.
    private static func sign(of kind: String) -> FilePath? {
        switch kind {
        case "scan": "clamd/commands"
        case "run": "job/.1-run/stdout"
        default: nil
        }
    }

    private static func isWritten(_ path: FilePath) -> Bool {
        var status = stat()
        return path.withPlatformString { stat($0, &status) } == 0
            && (status.st_size > 0 || path.lastComponent == "stdout")
    }

    @Test(arguments: kinds)
    func aNameThatIsNotUTF8(kind: String) async throws {
        let name = try #require(FileName(Array("V".utf8) + [0xED] + Array("ctor.tar".utf8)))
        let fixture = try StageFixture(drop: name, Self.archive)
        let (options, server) = try await options(kind, fixture)
        defer { withExtendedLifetime(server) {} }
        // The lists of a bag are UTF-8.
        if kind == "bag" { return #expect(try fixture.failure(kind, options).code == "bag.name") }
        let payload = try fixture.run(kind, options)
        if case .file(let handedOn) = payload.shape {
            #expect(handedOn.bytes.contains(0xED), "the odd byte is kept as it is")
        }
        #expect(Folder.kind(of: payload.path) != nil)
    }

    /// Kinds that need no space of their own.
    private static let writingNothing: Set<String> = [
        "move", "verify", "detect", "dedupe", "rename", "select", "http", "scan",
    ]

    @Test(.enabled(if: SmallDisk.isPossible, "needs the right to mount a tmpfs"), arguments: kinds)
    func aFullDisk(kind: String) async throws {
        let disk = try SmallDisk(bytes: 10 << 20)
        defer { disk.unmount() }
        let fixture = try StageFixture(
            drop: try #require(FileName("drop.tar")), Self.archive,
            in: disk.path.appending(try #require(FileName("job"))))
        let (options, server) = try await options(kind, fixture)
        defer { withExtendedLifetime(server) {} }
        // Nothing is left but what a folder or two need.
        var payload = fixture.payload
        if !["unpack", "stamp"].contains(kind) {
            let folder = try Folder.open(fixture.job.folder)
            try folder.make(".payload")
            try folder.link("drop.tar", as: ".payload/drop.tar", in: folder)
            payload = Payload(folder: fixture.job.folder.appending(".payload"))
            try disk.fill()
        }
        do {
            try fixture.run(kind, options, on: payload)
            #expect(Self.writingNothing.contains(kind), "a stage that writes cannot have succeeded")
        } catch let failure as StageFailure {
            // One archive that does not fit where others may is no reason to pause; it is tried again as `retry` says.
            let isTooLarge = kind == "unpack" && failure.code == "archive.no-room"
            #expect(failure.class == (isTooLarge ? .transient : .environment), "\(failure)")
            #expect(!failure.remedy.isEmpty)
        }
    }
}

/// Calls work off once it has begun.
private final class Watcher: Sendable {
    private let done = Cancellation()

    init(_ cancellation: Cancellation, hasBegun: @escaping @Sendable () -> Bool) {
        let done = done
        DispatchQueue(label: "watcher").async { @Sendable in
            while !done.isCancelled {
                if hasBegun() { return cancellation.cancel() }
                sched_yield()
            }
        }
    }

    func stop() { done.cancel() }
}

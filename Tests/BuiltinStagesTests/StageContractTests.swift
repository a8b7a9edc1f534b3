import BuiltinStages
import Dispatch
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// What every stage kind must do, whatever else it does. What is particular to a kind is in its `StageContract`, never
/// here.
@Suite struct StageContractTests {
    typealias Input = StageContract.Input

    /// One kind on one input.
    struct Case: Sendable, CustomTestStringConvertible {
        let kind: String
        let input: Input
        var testDescription: String { "\(kind), \(input)" }
    }

    /// The example of docs/adding-a-stage.md keeps the contract, too.
    static let allKinds = StageRegistry.builtin.descriptors.map(\.kind) + [StampStage.descriptor.kind]
    static let kinds = allKinds.filter { StageContract.of($0).server?.isPossible ?? true }
    static let cases = kinds.flatMap { kind in Input.allCases.map { Case(kind: kind, input: $0) } }

    /// Where there is no server, that is no fault of the file.
    @Test(arguments: allKinds.filter { StageContract.of($0).server != nil })
    func nobodyAnswers(kind: String) throws {
        let fixture = try StageFixture(drop: "drop.bin", Self.content)
        let contract = StageContract.of(kind)
        let failure = try fixture.failure(kind, contract.optionsAlone)
        #expect(failure.class == contract.server?.failure)
        #expect(!failure.remedy.isEmpty)
        #expect(try StageFixture.snapshot(fixture.payload).count == 1)
    }

    @Test("Those that tell others the job's id say so, and need more than a drop's content", arguments: allKinds)
    func tells(kind: String) throws {
        let stage = try StageFixture(drop: "drop.bin", []).stage(kind, StageContract.of(kind).optionsAlone)
        #expect(stage.tellsJob == ["http", "run"].contains(kind))
        #expect(!(stage.tellsJob && stage.isQuick))
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
        let (options, server) = try await StageContract.of(`case`.kind).options(fixture)
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
        let contract = StageContract.of(`case`.kind)
        if contract.handsOn.contains(`case`.input) { return }
        let cancellation = Cancellation()
        cancellation.cancel()
        let before = try StageFixture.snapshot(payload)
        #expect(throws: Failure.cancelled) {
            try fixture.run(`case`.kind, contract.optionsAlone, on: payload, cancellation: cancellation)
        }
        #expect(try StageFixture.snapshot(payload) == before)
    }

    /// With nothing in it, and with very much (`DROPMILL_TORTURE=1`: 100,000 files).
    @Test(arguments: kinds)
    func folders(kind: String) async throws {
        for count in [0, getenv("DROPMILL_TORTURE") == nil ? 1000 : 100_000] {
            let fixture = try StageFixture(drop: "drop.zip", [1])
            let (options, server) = try await StageContract.of(kind).options(fixture)
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
    @Test(arguments: kinds.filter { StageContract.of($0).work != nil })
    func calledOffMidway(kind: String) async throws {
        let contract = StageContract.of(kind)
        for _ in 0..<50 {
            let (fixture, payload) = try makeMuch(contract)
            let (options, server) = try await contract.options(fixture, isLasting: true)
            defer { withExtendedLifetime(server) {} }
            let before = try StageFixture.snapshot(payload)
            let cancellation = Cancellation()
            let progress = StageProgress()
            let sign = contract.sign.map { ($0, fixture.scratch.path.pushing($0.path)) }
            let watcher = Watcher(cancellation) { @Sendable in
                if let (sign, path) = sign { return Self.isThere(sign, at: path) }
                return progress.bytes > 0 || progress.entries > 0
            }
            defer { watcher.stop() }
            do {
                try fixture.run(kind, options, on: payload, cancellation: cancellation, progress: progress)
            } catch let failure as Failure {
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
    private func makeMuch(_ contract: StageContract) throws -> (fixture: StageFixture, payload: Payload) {
        if let work = contract.work, work != .folder { return try make(work) }
        let fixture = try StageFixture(drop: "drop.bin", Self.content)
        let payload = try fixture.folderPayload((0..<1000).map { (Array("f\($0)".utf8), "content of \($0)") })
        try contract.prepare(fixture, payload)
        return (fixture, payload)
    }

    private static func isThere(_ sign: StageContract.Sign, at path: FilePath) -> Bool {
        var status = stat()
        return path.withPlatformString { stat($0, &status) } == 0 && (status.st_size > 0 || sign.isEmptyEnough)
    }

    @Test(arguments: kinds)
    func aNameThatIsNotUTF8(kind: String) async throws {
        let name = try #require(FileName(Array("V".utf8) + [0xED] + Array("ctor.tar".utf8)))
        let fixture = try StageFixture(drop: name, Self.archive)
        let (options, server) = try await StageContract.of(kind).options(fixture)
        defer { withExtendedLifetime(server) {} }
        if let code = StageContract.of(kind).oddName {
            return #expect(try fixture.failure(kind, options).code == code)
        }
        let payload = try fixture.run(kind, options)
        if case .file(let handedOn) = payload.shape {
            #expect(handedOn.bytes.contains(0xED), "the odd byte is kept as it is")
        }
        #expect(Folder.kind(of: payload.path) != nil)
    }

    /// Where nothing can be written a stage says so, or needs to write nothing: then it gives what it gives elsewhere.
    @Test(.enabled(if: SmallDisk.isPossible, "needs the right to mount a tmpfs"), arguments: kinds)
    func aFullDisk(kind: String) async throws {
        let contract = StageContract.of(kind)
        let disk = try SmallDisk(bytes: 10 << 20)
        defer { disk.unmount() }
        let name = try #require(FileName("drop.tar"))
        let fixture = try StageFixture(
            drop: name, Self.archive, in: disk.path.appending(try #require(FileName("job"))))
        let payload = try self.payload(of: fixture, contract)
        let elsewhere = try StageFixture(drop: name, Self.archive)
        let usual = try self.payload(of: elsewhere, contract)
        // Nothing is left but what a folder or two need.
        if payload.shape == .folder { try disk.fill() }
        let (options, server) = try await contract.options(fixture)
        let (usualOptions, usualServer) = try await contract.options(elsewhere)
        defer { withExtendedLifetime((server, usualServer)) {} }
        do {
            let result = try fixture.run(kind, options, on: payload)
            let expected = try elsewhere.run(kind, usualOptions, on: usual)
            #expect(try StageFixture.snapshot(result) == StageFixture.snapshot(expected))
            #expect(result.sidecars == expected.sidecars)
            #expect(result.facts == expected.facts)
        } catch let failure as Failure {
            #expect(failure.class == contract.fullDisk, "\(failure)")
            #expect(!failure.remedy.isEmpty)
        }
    }

    /// A folder with the archive in it, or the archive for a kind that does not look at folders.
    private func payload(of fixture: StageFixture, _ contract: StageContract) throws -> Payload {
        guard !contract.handsOn.contains(.folder) else { return fixture.payload }
        let folder = try Folder.open(fixture.job.folder)
        try folder.make(".payload")
        try folder.link("drop.tar", as: ".payload/drop.tar", in: folder)
        return Payload(folder: fixture.job.folder.appending(".payload"))
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

import BuiltinStages
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// A job of one drop, and stages to run on it.
struct StageFixture {
    let scratch: ScratchFolder
    let job: Job

    /// The real program unpacks, and tells types.
    private static let services: StageServices = {
        var services = StageServices()
        services.add(UnpackProgram(DropmillProcess.binary, ["unpack-worker"]))
        services.add(TypeProgram(DropmillProcess.binary, ["type-worker"]))
        return services
    }()

    /// A job whose folder lies in a scratch folder (or in another folder), with the drop in it.
    init(drop name: FileName, _ contents: [UInt8], in folder: FilePath? = nil) throws {
        scratch = try ScratchFolder()
        let jobFolder = folder ?? scratch.path("job")
        try Folder.make(jobFolder)
        let now = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
        let drop = Drop(name: name, size: Int64(contents.count), droppedAt: now)
        job = Job(
            id: JobIDGenerator().next(at: now), pipeline: "test", drop: drop, claimedAt: now, folder: jobFolder)
        try scratch.write(contents, to: job.original)
    }

    init(drop name: String, _ contents: [UInt8]) throws {
        try self.init(drop: try #require(FileName(name)), contents)
    }

    /// The drop as the payload.
    var payload: Payload { Payload(dropOf: job) }

    /// A payload of many files, written to a folder of its own.
    func folderPayload(_ files: [(name: [UInt8], contents: String)]) throws -> Payload {
        let root = job.folder.appending(".payload")
        try Folder.make(root)
        for file in files {
            try scratch.write(
                Array(file.contents.utf8), to: FilePath(bytes: root.bytes + [UInt8(ascii: "/")] + file.name))
        }
        return Payload(folder: root)
    }

    /// The same of texts.
    func folder(_ files: KeyValuePairs<String, String>) throws -> Payload {
        try folderPayload(files.map { (Array($0.utf8), $1) })
    }

    /// The paths of a payload's files.
    func names(_ payload: Payload) throws -> [String] { try payload.files().map(\.relative.string) }

    /// A stage of that kind; what its options may name is `facts` and `environment`.
    func stage(
        _ kind: String, _ options: Options = [:], facts: Set<String> = ["sha256", "type"],
        environment: [String: String] = [:]
    ) throws -> any Stage {
        let type = try #require(StageRegistry.builtin.type(of: kind) ?? StageRegistry([StampStage.self]).type(of: kind))
        let (read, problems) = StageOptions.read(
            options.entries, of: type.descriptor, at: Options.place,
            in: OptionContext(
                base: scratch.path, facts: facts, environment: environment, services: Self.services))
        if let problem = problems.first { throw problem }
        return try type.init(options: try #require(read))
    }

    /// Runs a stage of that kind.
    @discardableResult
    func run(
        _ kind: String, _ options: Options = [:], on payload: Payload? = nil,
        cancellation: Cancellation = Cancellation(), progress: StageProgress = StageProgress(),
        notes: StageNotes = StageNotes(), seen: any SeenContent = NothingSeen(), failed: JobFailure? = nil,
        environment: [String: String] = [:], timeLimit: Duration? = nil, in place: Int = 0
    ) throws -> Payload {
        let payload = payload ?? self.payload
        let context = StageContext(
            job: .init(of: job, carrying: payload, failure: failed),
            work: .init(cancellation: cancellation, progress: progress, notes: notes, timeLimit: timeLimit),
            disk: .init(scratch: job.scratch(stage: place, kind: kind)), seen: seen)
        return try stage(kind, options, environment: environment).run(payload, in: context)
    }

    /// The failure that running it ends with.
    func failure(
        _ kind: String, _ options: Options = [:], on payload: Payload? = nil
    ) throws -> Failure {
        let failure: Failure? = try {
            do {
                try run(kind, options, on: payload)
                return nil
            } catch let failure as Failure {
                return failure
            }
        }()
        return try #require(failure)
    }

    /// Everything below a payload with its contents: what a second run must give again.
    static func snapshot(_ payload: Payload) throws -> [[UInt8]] {
        try payload.files().map { try $0.bytes + [0] + ScratchFolder.read(payload.path(of: $0)) }
    }
}

/// Options as a test writes them: `["to": "out/{stem}", "env": ["A": "1"]]`.
enum Options: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByStringInterpolation, Sendable
{
    case text(String)
    case list([Options])
    case map([(String, Options)])

    static let place = SourcePosition(line: 1, column: 1)

    init(stringLiteral text: String) { self = .text(text) }
    init(arrayLiteral members: Options...) { self = .list(members) }
    init(dictionaryLiteral members: (String, Options)...) { self = .map(members) }

    /// As if it had been read from a file.
    var node: OptionNode {
        switch self {
        case .text(let text): OptionNode(.scalar(text, quoted: false), at: Self.place)
        // A list of one may as well be written without its brackets.
        case .list(let members) where members.count == 1: members[0].node
        case .list(let members): OptionNode(.list(members.map(\.node)), at: Self.place)
        case .map: OptionNode(.map(entries), at: Self.place)
        }
    }

    /// The members of a map.
    var entries: [OptionNode.Entry] {
        guard case .map(let members) = self else { return [] }
        return members.map { OptionNode.Entry(key: $0.0, position: Self.place, value: $0.1.node) }
    }
}

extension Payload {
    /// Its regular files, by path bytes.
    func files() throws -> [TreeFile] {
        guard shape == .folder else { return [TreeFile(path.lastEntry)] }
        return try FileTree.list(root).files
    }
}

import BuiltinStages
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// A job of one drop, and stages to run on it.
struct StageFixture {
    let scratch: ScratchFolder
    let job: Job

    /// The real program unpacks.
    private static let program: Void = UnpackProgram.use(DropmillProcess.binary, ["unpack-worker"])

    /// A job whose folder lies in a scratch folder (or in another folder), with the drop in it.
    init(drop name: FileName, _ contents: [UInt8], in folder: FilePath? = nil) throws {
        _ = Self.program
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
        let root = scratch.path("payload")
        try Folder.make(root)
        for file in files {
            try scratch.write(
                Array(file.contents.utf8), to: FilePath(bytes: root.bytes + [UInt8(ascii: "/")] + file.name))
        }
        return Payload(folder: root)
    }

    /// A stage of that kind with options as plain text or lists of it.
    func stage(_ kind: String, _ options: KeyValuePairs<String, [String]> = [:]) throws -> any Stage {
        let type = try #require(StageRegistry.builtin.type(of: kind))
        let place = SourcePosition(line: 1, column: 1)
        let entries = options.map { name, values in
            let nodes = values.map { OptionNode(.scalar($0, quoted: false), at: place) }
            return OptionNode.Entry(
                key: name, position: place, value: nodes.count == 1 ? nodes[0] : OptionNode(.list(nodes), at: place))
        }
        let (read, problems) = StageOptions.read(
            entries, of: type.descriptor, at: place, in: OptionContext(base: scratch.path))
        if let problem = problems.first { throw problem }
        return try type.init(options: try #require(read))
    }

    /// Runs a stage of that kind.
    @discardableResult
    func run(
        _ kind: String, _ options: KeyValuePairs<String, [String]> = [:], on payload: Payload? = nil,
        cancellation: Cancellation = Cancellation(), progress: StageProgress = StageProgress(),
        notes: StageNotes = StageNotes()
    ) throws -> Payload {
        let context = StageContext(
            job: job.id, drop: job.drop, values: job.templateValues, scratch: job.scratch(stage: 0, kind: kind),
            cancellation: cancellation, progress: progress, notes: notes)
        return try stage(kind, options).run(payload ?? self.payload, in: context)
    }

    /// The failure that running it ends with.
    func failure(
        _ kind: String, _ options: KeyValuePairs<String, [String]> = [:], on payload: Payload? = nil
    ) throws -> StageFailure {
        let failure: StageFailure? = try {
            do {
                try run(kind, options, on: payload)
                return nil
            } catch let failure as StageFailure {
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

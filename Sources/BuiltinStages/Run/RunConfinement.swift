import Files
import Glibc
import PipelineKit
import Programs
import SystemPackage

/// What `confine` and the options beside it say.
struct RunConfinement: Sendable {
    private static let confine = StageOption<Bool>.flag(
        "confine",
        "whether to confine it: it reads only what is installed (/usr, /lib, …; world-readable /etc) and the copy, "
            + "writes only its own folder, and reaches neither the network nor other processes",
        default: false)
    private static let network = StageOption<Bool>.flag(
        "network", "with confine: whether it may use the network", default: false)
    private static let read = StageOption<[FilePath]>(
        "read", "with confine: additional files and folders that it may read", takes: "a path, or a list", default: [],
        shown: "", schema: .oneOrMore(.text)
    ) { (node, context) throws(OptionProblem) in
        var paths: [FilePath] = []
        for member in node.members {
            let text = try member.string()
            guard !text.isEmpty, !text.utf8.contains(0) else { throw member.problem("'\(text)' is not a valid path") }
            paths.append(context.base.pushing(FilePath(text)).lexicallyNormalized())
        }
        return paths
    }
    private static let maxMemory = StageOption<Int64>.most(
        "max_memory", "with confine: the maximum address space of each process", default: 4 << 30)
    private static let maxFileSize = StageOption<Int64>.most(
        "max_file_size", "with confine: the maximum size of each file that it writes", default: 10 << 30)
    private static let maxProcesses = StageOption<Int>.integer(
        "max_processes", "with confine: the maximum number of processes and threads", in: 1...Confinement.mostProcesses,
        default: 256)

    /// All of them, in the order they are shown.
    static let all: [AnyStageOption] = [
        confine.erased, network.erased, read.erased, maxMemory.erased, maxProcesses.erased, maxFileSize.erased,
    ]

    private let confinement: Confinement

    static func read(_ options: StageOptions) throws(OptionProblem) -> RunConfinement? {
        if try options.value(confine) {
            return RunConfinement(
                confinement: Confinement(
                    folder: "", reads: try options.value(read), hasNetwork: try options.value(network),
                    memory: try options.value(maxMemory), fileSize: try options.value(maxFileSize),
                    processes: try options.value(maxProcesses)))
        }
        let given = [
            (network.name, options.isGiven(network)), (read.name, options.isGiven(read)),
            (maxMemory.name, options.isGiven(maxMemory)), (maxProcesses.name, options.isGiven(maxProcesses)),
            (maxFileSize.name, options.isGiven(maxFileSize)),
        ]
        if let lonely = given.first(where: \.1) {
            throw options.problem(
                "'\(lonely.0)' applies only to a confined program; add 'confine: true', or remove it")
        }
        return nil
    }

    /// For a program with this folder.
    func walls(around folder: FilePath) -> Confinement {
        var walls = confinement
        walls.folder = folder
        return walls
    }

    /// What else could be the reason for how a program ended.
    func hint(for end: Program.Outcome.End) -> String {
        end == .signalled(SIGXFSZ)
            ? " It wrote a file larger than 'max_file_size' allows."
            : " It is confined: check 'read', 'network' and the limits of the stage."
    }

    /// A program that could not be started as it was to be.
    static func failure(_ failure: Program.StartFailure, _ program: String) -> Failure {
        switch failure {
        case .program(let error): Failure(inStage: IOError("start", FilePath(program), error))
        case .reading(let path, let error):
            Failure(
                .environment, code: "run.read",
                summary: "'\(path.text)', listed in 'read' for '\(program)', cannot be opened: \(error).",
                remedy: "Create it, or remove it from 'read'; processing resumes by itself.",
                detail: "errno \(error.rawValue)")
        case .confinement(let error):
            Failure(
                .environment, code: "run.no-sandbox",
                summary: "The program '\(program)' cannot be confined"
                    + (error == .noFunction ? ": the kernel has no Landlock." : ": \(error)."),
                remedy:
                    "Run Linux 5.13 or later with Landlock and seccomp, and see with 'dropmill doctor --unit' that the "
                    + "service allows both; or give the program all of Dropmill's rights: confine: false.",
                detail: "errno \(error.rawValue)")
        }
    }
}

extension StageOption where Value == Int64 {
    fileprivate static func most(_ name: String, _ summary: String, default fallback: Int64) -> Self {
        Self(
            name, summary, takes: "a size", default: fallback,
            shown: "\(ByteSize(bytes: fallback))".filter { $0 != " " }, schema: .someSize
        ) { (node, _) throws(OptionProblem) in
            let size = try node.size().bytes
            guard size > 0 else { throw node.problem("0 bytes would stop every program; write a size such as 4GiB") }
            return size
        }
    }
}

import Files
import Glibc
package import PipelineKit
import Programs
import SystemPackage

/// Runs a program on the payload. This defines its inputs and outputs; `Programs` supervises it.
package struct RunStage: OwnStage {
    private static let command = StageOption<[ProgramArgument]>(
        "command",
        "the program and its arguments, as a list, without a shell; {file}, {dir}, {name} and {job} stand for the "
            + "copy of the payload, the program's folder, the payload's name and the job", takes: "a list of strings",
        default: nil, shown: "required", schema: .oneOrMore(.text)
    ) { (node, context) throws(OptionProblem) in
        var arguments: [ProgramArgument] = []
        for member in node.members { arguments.append(try ProgramArgument(member, in: context)) }
        guard let first = arguments.first, first.isFixed, !first.source.isEmpty else {
            throw node.problem("name the program first, without placeholders: [gs, -o, out.pdf, \"{file}\"]")
        }
        if arguments.count == 1, case .scalar = node.content, first.source.contains(" ") {
            throw node.problem("no shell runs the command; write a list, such as [\(Self.asList(first.source))]")
        }
        return arguments
    }

    private static func asList(_ text: String) -> String { text.split(separator: " ").joined(separator: ", ") }

    private static let environment = StageOption<[(key: String, value: SecretText)]>(
        "env", "environment variables in addition to PATH, LANG, HOME, TMPDIR and DROPMILL_*; they may hold secrets",
        takes: "a map of strings", default: [],
        shown: "", schema: .map(.text), takesSecrets: true
    ) { (node, context) throws(OptionProblem) in
        guard case .map(let entries) = node.content else {
            throw node.problem("expected a map, found \(node.kindAlone)")
        }
        var variables: [(key: String, value: SecretText)] = []
        for entry in entries {
            guard !entry.key.isEmpty, !entry.key.contains("="), !entry.key.utf8.contains(0) else {
                throw OptionProblem("not a variable's name; write 'NAME: value'", at: entry.position)
            }
            variables.append((entry.key, try SecretText(entry.value, in: context)))
        }
        return variables
    }

    private static let output = StageOption<Output>.choice(
        "output",
        "what to do with the files that the program leaves in its folder: replace the payload, add them to it, or "
            + "discard them", default: .none)
    private static let transient = StageOption<Set<Int32>>(
        "transient", "exit statuses to retry", takes: "a number, or a list", default: [75],
        shown: "75", schema: .anyNumber(.integer(1...255))
    ) { (node, _) throws(OptionProblem) in
        var statuses: Set<Int32> = []
        for member in node.members { statuses.insert(Int32(try member.integer(in: 1...255))) }
        return statuses
    }
    private static let grace = StageOption<Duration>.duration(
        "grace", "how long it may continue after SIGTERM", default: .seconds(5))

    private static let input = StageOption<Input>.choice(
        "stdin", "the program's standard input: nothing, the payload's file, or a JSON report of the job",
        default: .none)

    private enum Output: String, CaseIterable, Sendable { case replace, add, none }
    private enum Input: String, CaseIterable, Sendable { case none, payload, report }

    package static let descriptor = StageDescriptor(
        kind: "run",
        summary:
            "Runs a program on a copy of the payload; exit status 0 is success, any other fails the file.",
        options: [
            command.erased, environment.erased, input.erased, output.erased, transient.erased, grace.erased,
        ] + RunConfinement.all,
        effects: [.replacesPayload], mayHaveNoEffect: true,
        example: #"run: { command: [gs, -sDEVICE=pdfwrite, -o, a.pdf, "{file}"], output: replace, confine: true }"#,
        remedies: [.telling: "run: { command: […], stdin: report }"])

    private let command: [ProgramArgument]
    let variables: [(key: String, value: SecretText)]
    private let input: Input
    private let output: Output
    private let transient: Set<Int32>
    private let grace: Duration
    let confinement: RunConfinement?
    let program: String
    private let base: FilePath

    package var effects: Set<StageDescriptor.Effect> { output == .none ? [] : [.replacesPayload] }

    package init(options: StageOptions) throws(OptionProblem) {
        command = try options.value(Self.command)
        variables = try options.value(Self.environment)
        input = try options.value(Self.input)
        output = try options.value(Self.output)
        transient = try options.value(Self.transient)
        grace = try options.value(Self.grace)
        confinement = try RunConfinement.read(options)
        program = command.first?.source ?? ""
        base = command.first?.base ?? ""
    }

    package var tellsJob: Bool { true }
    package var label: String? { FilePath(program).lastComponent?.string }

    package func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        try context.checkCancelled()
        let scratch = try context.makeScratch()
        let folders = try ProgramFolders(in: scratch)
        let file = try isTold ? folders.standIn(for: payload, isOurs: confinement != nil, context) : nil
        var own: [(key: String, value: SecretText.Revealed)] = []
        for (key, value) in variables { own.append((key, try value.reveal())) }
        let outcome = try run(payload, file, folders, own, context)
        if !outcome.wasStopped, outcome.end != .exited(0) { try checkSpace(folders.output) }
        try judge(ProgramOutput(outcome, without: own.flatMap(\.value.secrets)), outcome, context)
        return try handOn(payload, folders, context)
    }

    /// Whether the program is told where the payload is.
    private var isTold: Bool { input == .payload || command.contains(where: \.namesFile) }

    private func run(
        _ payload: Payload, _ file: FilePath?, _ folders: ProgramFolders,
        _ own: [(key: String, value: SecretText.Revealed)],
        _ context: StageContext
    ) throws(Failure) -> Program.Outcome {
        let path = Self.path(own)
        guard let executable = executable(in: path) else { throw Self.missing(program) }
        let input = try input(payload, file, folders, context)
        var values = context.job.values
        values.facts = payload.knownFacts.mapValues { Array($0.utf8) }
        let place = ProgramArgument.Place(payload: payload, file: file ?? "", folder: folders.output)
        var arguments: [[UInt8]] = []
        do throws(TemplateProblem) {
            for argument in command { arguments.append(try argument.bytes(place, values)) }
        } catch {
            throw .file(
                "run.command", "The command cannot be rendered: \(error.message).",
                remedy: "Change 'command' in the stage 'run', or rename the file and drop it again.")
        }
        try checkDashes(arguments)
        let program = Program(
            executable, arguments: arguments, environment: environment(place, path, folders.temporary, own, context),
            folder: folders.output, output: folders.written("stdout"), error: folders.written("stderr"), grace: grace,
            confinement: confinement?.walls(around: folders.own))
        do throws(Program.StartFailure) {
            return try program.run(
                input: input.descriptor, tail: ProgramOutput.mostBytes, wrote: context.work.progress.move
            ) { context.work.cancellation.isCancelled }
        } catch {
            switch error {
            // The last one: a script without `#!`.
            case .program(.noSuchFileOrDirectory), .program(.permissionDenied), .program(.execFormatError):
                throw Self.missing(self.program)
            case .program(let error): throw Failure(inStage: IOError("start", executable, error))
            default: throw RunConfinement.failure(error, self.program)
            }
        }
    }

    /// The `PATH` in which programs are searched.
    static func path(_ own: [(key: String, value: SecretText.Revealed)]) -> String {
        own.last { $0.key == "PATH" }?.value.text ?? variable("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
    }

    /// The program's file; nil if it is not found.
    func executable(in path: String) -> FilePath? {
        program.contains("/") ? base.pushing(FilePath(program)) : Program.find(program, in: path)
    }

    /// The program's standard input, open.
    private func input(
        _ payload: Payload, _ file: FilePath?, _ folders: ProgramFolders, _ context: StageContext
    ) throws(Failure) -> OpenFile {
        switch input {
        case .none: return try Failure.onIOError { () throws(IOError) in try OpenFile.open("/dev/null", O_RDONLY) }
        case .payload:
            guard case .file = payload.shape, let file else {
                throw .file(
                    "run.folder",
                    "'\(context.job.drop.name)' is a folder at this point, and 'stdin' reads a single file.",
                    remedy: "Put 'compress' before 'run', or remove 'stdin' and use {file} in 'command'.")
            }
            return try Failure.onIOError { () throws(IOError) in
                try OpenFile.open(file, O_RDONLY | O_NOFOLLOW)
            }
        case .report:
            let report = JobReportText.json(payload, context)
            return try Failure.onIOError { () throws(IOError) in
                let file = try OpenFile.open(folders.written("stdin"), O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
                try file.write(report)
                lseek(file.descriptor, 0, SEEK_SET)
                return file
            }
        }
    }

    /// Otherwise a sender could pass options to the program through a file name.
    private func checkDashes(_ arguments: [[UInt8]]) throws(Failure) {
        for (argument, bytes) in zip(command, arguments) {
            if argument.source == "--" { return }
            guard argument.beginsWithPlaceholder, bytes.first == UInt8(ascii: "-") else { continue }
            throw .file(
                "run.dash",
                "'\(EscapedText.of(bytes))' begins with a dash, so '\(program)' would parse it as an option.",
                remedy: "Rename the file and drop it again; or put '--' before it in 'command', or write './{name}'.")
        }
    }

    static func missing(_ program: String) -> Failure {
        Failure(
            .environment, code: "run.missing", summary: "The program '\(program)' is not found or not executable.",
            remedy: "Install it, or use its path in 'command'; processing resumes by itself.")
    }

    /// Only what every program needs of the daemon's own environment.
    private func environment(
        _ place: ProgramArgument.Place, _ path: String, _ temporary: FilePath,
        _ own: [(key: String, value: SecretText.Revealed)], _ context: StageContext
    ) -> [[UInt8]] {
        var all: [(String, [UInt8])] = [
            ("PATH", Array(path.utf8)), ("LANG", Array((Self.variable("LANG") ?? "C.UTF-8").utf8)),
            ("HOME", confinement == nil ? Array((Self.variable("HOME") ?? "/").utf8) : temporary.bytes),
            ("TMPDIR", temporary.bytes),
            ("DROPMILL_DIR", place.folder.bytes),
            ("DROPMILL_NAME", context.job.drop.name.bytes), ("DROPMILL_JOB", Array(context.job.id.text.utf8)),
            ("DROPMILL_PIPELINE", Array(context.job.values.pipeline.utf8)),
        ]
        if isTold { all.append(("DROPMILL_FILE", place.file.bytes)) }
        if let failed = context.job.failure {
            let failure = failed.failure
            all += [
                ("DROPMILL_STAGE", failed.stage ?? ""), ("DROPMILL_CODE", failure.code),
                ("DROPMILL_SUMMARY", failure.summary), ("DROPMILL_REMEDY", failure.remedy),
                ("DROPMILL_DETAIL", failure.detail),
                // The kernel takes no variable of more than 128 KiB.
            ].map { ($0, Array($1.utf8.prefix(64 << 10))) }
        }
        let names = Set(own.map(\.key))
        all.removeAll { names.contains($0.0) }
        all += own.map { ($0.key, Array($0.value.text.utf8)) }
        return all.map { key, value in Array("\(key)=".utf8) + value.filter { $0 != 0 } }
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// A program fails on a full disk, but few show that in their exit status; the file is not at fault.
    private func checkSpace(_ folder: FilePath) throws(Failure) {
        var status = statvfs()
        guard folder.withPlatformString({ statvfs($0, &status) }) == 0 else { return }
        let isFull = UInt64(status.f_bavail).multipliedSaturated(by: UInt64(status.f_frsize)) < 1 << 20
        guard isFull || (status.f_files > 0 && status.f_favail == 0) else { return }
        throw Failure(inStage: IOError("write", folder, .noSpace))
    }

    /// What the program's end means for the job.
    private func judge(
        _ output: ProgramOutput, _ outcome: Program.Outcome, _ context: StageContext
    ) throws(Failure) {
        if outcome.wasStopped {
            context.work.notes.add(output.summary)
            throw .cancelled
        }
        let end: String
        switch outcome.end {
        case .exited(0): return context.work.notes.add(output.summary)
        case .exited(let status): end = "exited with status \(status)"
        case .signalled(let signal): end = "was killed by signal \(signal)"
        case .lost:
            throw Failure(
                .transient, code: "run.lost",
                summary: "The program '\(program)' was killed together with the process that supervises it.",
                remedy: "Check the kernel's log for a lack of memory; then send the file again.",
                detail: output.full)
        }
        var failure = Failure.file(
            "run.failed", "The program '\(program)' \(end) for '\(context.job.drop.name)'.",
            remedy: "Check its output (dropmill show): it rejected the file, or could not process it."
                + "\(confinement?.hint(for: outcome.end) ?? "")", detail: output.full)
        if case .exited(let status) = outcome.end, transient.contains(status) { failure.class = .transient }
        throw failure
    }

    private func handOn(
        _ payload: Payload, _ folders: ProgramFolders, _ context: StageContext
    ) throws(Failure) -> Payload {
        if output == .none { return payload }
        guard let folder = try folders.collect() else { throw nothing(context) }
        let made = try Failure.onIOError { () throws(IOError) in try FileTree.list(try context.open(folder)) }
        if let special = made.specials.first {
            throw .file(
                "run.special", "The program '\(program)' left '\(special.text)', which is not a file, folder or link.",
                remedy: "Have it remove its own FIFOs and sockets before it exits.")
        }
        guard !made.files.isEmpty || !made.folders.isEmpty else { throw nothing(context) }
        if output == .add { return try folders.add(payload, to: made, context) }
        var replaced = Payload(folder: folder)
        if made.files.count == 1, made.folders.isEmpty, made.links.isEmpty, let name = made.files[0].relative.lastName {
            replaced = Payload(file: name, in: folder)
        }
        return replaced.inPlace(of: payload)
    }

    private func nothing(_ context: StageContext) -> Failure {
        .file(
            "run.nothing", "The program '\(program)' created no file from '\(context.job.drop.name)'.",
            remedy: "Have it write into its current folder, or set 'output: none'.")
    }
}

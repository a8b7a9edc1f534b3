import FileTypes
import Files
import PipelineKit
import SystemPackage

/// Finds out what files are by their content, whatever they are called.
struct DetectStage: OwnStage {
    private static let only = StageOption<[Glob]>.globs(
        "only", "the types to accept; others fail: `image/*`", shown: "all")
    private static let never = StageOption<[Glob]>.globs("never", "types that fail")

    static let descriptor = StageDescriptor(
        kind: "detect",
        summary:
            "Detects a file's type by its content, for {type} and `when: {type: …}` in later stages, and rejects "
            + "files of other types.",
        options: [only.erased, never.erased],
        example: "detect: { only: [application/pdf, image/*] }", conditions: ["type"])

    private let only: [Glob]
    private let never: [Glob]
    private let program: TypeProgram?

    var lack: Failure? { program == nil ? TypeProgram.missing : nil }

    /// Known of a single file.
    var facts: [String] { ["type", "encoding"] }

    init(options: StageOptions) throws(OptionProblem) {
        only = try options.value(Self.only)
        never = try options.value(Self.never)
        program = options.services.service(TypeProgram.self)
    }

    func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        try context.checkCancelled()
        let files = try Failure.onIOError { () throws(IOError) in try context.files(of: payload) }
        let types = try context.types(of: files, of: payload, by: program)
        let refused = zip(files, types).filter { !isTaken($0.1.type) }
        if let (file, type) = refused.first {
            let name =
                payload.shape == .folder
                ? "'\(file.relative.text)' of '\(context.job.drop.name)'" : "'\(context.job.drop.name)'"
            let others = refused.count > 1 ? ", and \(refused.count - 1) more files are rejected" : ""
            throw .file(
                "detect.type", "\(name) is \(type.type) by its content, which is not accepted here\(others).",
                remedy: only.isEmpty
                    ? "Do not send \(never.map(\.pattern).joined(separator: ", "))."
                    : "Send only \(only.map(\.pattern).joined(separator: ", ")).",
                detail: refused.prefix(1000).map { "\($0.1.type): \($0.0.relative.text)" }.joined(separator: "\n"))
        }
        guard case .file = payload.shape, let type = types.first else { return payload }
        var payload = payload
        payload.facts["type"] = type.type
        payload.facts["encoding"] = type.encoding
        return payload
    }

    private func isTaken(_ type: String) -> Bool {
        let type = Array(type.utf8)
        if never.contains(where: { $0.matches(type) }) { return false }
        return only.isEmpty || only.contains { $0.matches(type) }
    }
}

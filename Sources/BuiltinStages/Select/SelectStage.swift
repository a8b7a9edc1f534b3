import Files
import Glibc
package import PipelineKit
import SystemPackage

/// Keeps some of the payload's files.
package struct SelectStage: OwnStage {
    private static let keep = StageOption<[Glob]>.globs(
        "keep", "patterns of the files to keep, matched on the name or, with a slash, on the path", shown: "all")
    private static let drop = StageOption<[Glob]>.globs("drop", "patterns of files to remove")
    private static let type = StageOption<[Glob]>.globs(
        "type", "the content types of the files to keep: `image/*`", shown: "all")
    private static let larger = StageOption<ByteSize?>.size("larger", "keep only files larger than this")
    private static let smaller = StageOption<ByteSize?>.size("smaller", "keep only files smaller than this")
    private static let require = StageOption<Bool>.flag(
        "require", "whether the job fails if no file is left; if false, the remaining stages are skipped", default: true
    )

    package static let descriptor = StageDescriptor(
        kind: "select",
        summary: "Keeps the payload's files that match by name, size and type, and removes the others.",
        options: [
            keep.erased, drop.erased, type.erased, larger.erased, smaller.erased, require.erased,
        ],
        effects: [.replacesPayload],
        example: #"select: { keep: "*.{jpg,jpeg,heic}", drop: "__MACOSX/*" }"#)

    private let keep: [Glob]
    private let drop: [Glob]
    private let types: [Glob]
    private let larger: ByteSize?
    private let smaller: ByteSize?
    private let require: Bool
    private let program: TypeProgram?

    package var effects: Set<StageDescriptor.Effect> { require ? [.replacesPayload] : [.replacesPayload, .ends] }

    /// Something is known of single files only, and such a one is handed on as it is, or not at all.
    package var keepsFacts: Bool { true }

    package init(options: StageOptions) throws(OptionProblem) {
        keep = try options.value(Self.keep)
        drop = try options.value(Self.drop)
        types = try options.value(Self.type)
        larger = try options.value(Self.larger)
        smaller = try options.value(Self.smaller)
        require = try options.value(Self.require)
        program = options.services.service(TypeProgram.self)
    }

    package var lack: Failure? { program == nil && !types.isEmpty ? TypeProgram.missing : nil }

    package func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        try context.checkCancelled()
        let tree = try Failure.onIOError { () throws(IOError) in try context.tree(of: payload) }
        var kept: [TreeFile] = []
        for file in tree.files where try isKept(file, payload, context) { kept.append(file) }
        if kept.isEmpty { return try nothingLeft(payload, context) }
        let links = tree.links.filter(isKept)
        let empty = tree.emptyFolders
        let folders = empty.filter(isKept)
        let less = [
            (tree.files.count - kept.count, "files"), (tree.links.count - links.count, "symbolic links"),
            (empty.count - folders.count, "empty folders"),
        ].filter { $0.0 > 0 }
        guard case .folder = payload.shape, !less.isEmpty else { return payload }
        context.work.notes.add("removed: " + less.map { "\($0.0) \($0.1)" }.joined(separator: ", "))
        var selected = try Rebuilding(payload, in: context)
        for path in kept.map(\.relative) + links { try selected.put(path, as: path) }
        for folder in folders { try selected.makeFolder(folder, like: folder) }
        try selected.finish()
        return Payload(folder: selected.root).inPlace(of: payload)
    }

    /// A symbolic link or an empty folder: its name is all that it has.
    private func isKept(_ path: FilePath) -> Bool {
        guard types.isEmpty, larger == nil, smaller == nil else { return false }
        return (keep.isEmpty || Self.matches(keep, path)) && !Self.matches(drop, path)
    }

    private func isKept(_ file: TreeFile, _ payload: Payload, _ context: StageContext) throws(Failure) -> Bool {
        try context.checkCancelled()
        if !keep.isEmpty, !Self.matches(keep, file.relative) { return false }
        if Self.matches(drop, file.relative) { return false }
        if larger != nil || smaller != nil {
            let size = try Failure.onIOError { () throws(IOError) in
                Int64(try context.open(file, of: payload).status().st_size)
            }
            if let larger, size <= larger.bytes { return false }
            if let smaller, size >= smaller.bytes { return false }
        }
        guard !types.isEmpty else { return true }
        let type = Array(try context.type(of: file, of: payload, by: program).type.utf8)
        return types.contains { $0.matches(type) }
    }

    private static func matches(_ globs: [Glob], _ path: FilePath) -> Bool {
        globs.contains { glob in
            glob.pattern.contains("/") ? glob.matches(path.bytes) : path.lastName.map { glob.matches($0) } ?? false
        }
    }

    private func nothingLeft(_ payload: Payload, _ context: StageContext) throws(Failure) -> Payload {
        guard require else {
            context.work.notes.add("no file is kept")
            var payload = payload
            payload.isDone = true
            return payload
        }
        throw .file(
            "select.nothing", "No file of '\(context.job.drop.name)' matches the stage 'select'.",
            remedy: "Check its 'keep', 'drop', 'type', 'larger' and 'smaller', or send other files."
        )
    }
}

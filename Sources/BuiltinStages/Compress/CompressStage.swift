import Archive
import Files
import Glibc
package import PipelineKit
import SystemPackage

/// Packs the payload.
package struct CompressStage: OwnStage {
    private static let format = StageOption<ArchiveWriter.Format>.choice(
        "format", "the format to write; zst and gz hold one file", default: .tarZstd)
    private static let name = StageOption<Template>(
        "name", "the archive's name, with placeholders and without its extension", takes: "a name, with placeholders",
        default: defaultName, shown: "{stem}; for zst and gz the file's own name"
    ) { (node, context) throws(OptionProblem) in try node.template(for: .name, in: context) }
    private static let level = StageOption<Int>.integer(
        "level", "the compression level, as the format's own tools number it", in: 0...22, default: -1,
        shown: "the tools' own")
    private static let reproducible = StageOption<Bool>.flag(
        "reproducible",
        "whether to omit times and permissions (except execute), so that the same files give the same bytes",
        default: false)

    /// `{stem}`; an option's default cannot throw.
    private static let defaultName: Template? = {
        do throws(TemplateProblem) { return try Template("{stem}", use: .name) } catch { return nil }
    }()

    package static let descriptor = StageDescriptor(
        kind: "compress",
        summary:
            "Packs the payload into an archive, or compresses a single file; entries are sorted and carry no owner.",
        options: [format.erased, name.erased, level.erased, reproducible.erased],
        effects: [.replacesPayload],
        example: #"compress: { format: zip, name: "{stem}-{date}" }"#)

    private let format: ArchiveWriter.Format
    private let name: Template
    private let ownName: Bool
    private let level: Int?
    private let reproducible: Bool

    package init(options: StageOptions) throws(OptionProblem) {
        format = try options.value(Self.format)
        name = try options.value(Self.name)
        ownName = !options.isGiven(Self.name)
        level = options.isGiven(Self.level) ? try options.value(Self.level) : nil
        reproducible = try options.value(Self.reproducible)
        if let problem = ArchiveWriter.problem { throw options.problem(problem) }
        if let level, level > 9, ![.zstd, .tarZstd].contains(format) {
            throw options.problem("'level' goes up to 9 with '\(format.rawValue)'; only zstd has more")
        }
    }

    package func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        try context.checkCancelled()
        if format.isBare, payload.shape == .folder {
            throw .file(
                "compress.folder",
                "'\(context.job.drop.name)' is a folder, and \(format.rawValue) holds a single file.",
                remedy: "Set 'format' to tar.zst or zip, or give the stage a 'when'.")
        }
        let name = try archiveName(payload, context)
        let tree = try Failure.onIOError { () throws(IOError) in try context.tree(of: payload) }
        let scratch = try context.makeScratch()
        let target = scratch.appending(name)
        let file = try Failure.onIOError { () throws(IOError) in
            try context.open(scratch).open(FilePath().appending(name), O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
        }
        do throws(ArchiveWriter.Failure) {
            try pack(tree, of: payload, into: file.descriptor, context)
        } catch {
            try context.checkCancelled()
            throw failure(error, target, payload)
        }
        do throws(IOError) {
            try file.close()
        } catch {
            throw Failure(inStage: error)
        }
        return Payload(file: name, in: scratch).inPlace(of: payload)
    }

    /// Writes everything, in the order of the paths' bytes.
    private func pack(
        _ tree: FileTree, of payload: Payload, into descriptor: Int32, _ context: StageContext
    ) throws(ArchiveWriter.Failure) {
        let all: [FilePath] = tree.files.map(\.relative) + tree.folders + tree.links
        let paths = all.map { path in (path: path, bytes: path.bytes) }
        let sorted = paths.sorted { left, right in left.bytes.lexicographicallyPrecedes(right.bytes) }
        let isUTF8 = sorted.allSatisfy { String(validating: $0.bytes, as: UTF8.self) != nil }
        let root = try read { () throws(IOError) in try context.open(payload.root) }
        let writer = try ArchiveWriter.open(descriptor, format, level: level, isUTF8: isUTF8)
        for entry in sorted {
            if context.work.cancellation.isCancelled { throw ArchiveWriter.Failure.content(.canceled) }
            try add(entry.path, below: root, to: writer, context)
        }
        try writer.finish()
    }

    private func add(
        _ path: FilePath, below root: borrowing Folder, to writer: borrowing ArchiveWriter, _ context: StageContext
    ) throws(ArchiveWriter.Failure) {
        let header = try read { () throws(IOError) in try self.entry(path, below: root) }
        guard header.kind == .regular else { return try writer.add(header.entry) { (_) throws(Errno) in 0 } }
        let file = try read { () throws(IOError) in try root.open(path, O_RDONLY | O_NONBLOCK) }
        let descriptor = file.descriptor
        try writer.add(header.entry) { (buffer) throws(Errno) in
            if context.work.cancellation.isCancelled { throw .canceled }
            let count = retrying { Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
            guard count >= 0 else { throw .last }
            context.work.progress.add(bytes: Int64(count))
            return count
        }
        context.work.progress.add(entries: 1)
    }

    private func read<Value: ~Copyable>(_ body: () throws(IOError) -> Value) throws(ArchiveWriter.Failure) -> Value {
        do throws(IOError) {
            return try body()
        } catch {
            throw .content(error.errno)
        }
    }

    private func entry(
        _ path: FilePath, below root: borrowing Folder
    ) throws(IOError) -> (entry: ArchiveWriter.Entry, kind: FileKind) {
        guard let status = try root.status(of: path) else {
            throw IOError("examine", root.path.pushing(path), .noSuchFileOrDirectory)
        }
        let kind = FileKind(mode: status.st_mode)
        var mode = UInt32(status.st_mode) & ~0o7000
        if reproducible {
            let rights: UInt32 = kind == .folder || mode & 0o100 != 0 ? 0o755 : 0o644
            mode = mode & ~0o777 | (kind == .symbolicLink ? 0o777 : rights)
        }
        let entry = ArchiveWriter.Entry(
            path: path.bytes, mode: mode, size: kind == .regular ? Int64(status.st_size) : 0,
            modified: reproducible ? format.fixedTime : status.st_mtim.tv_sec,
            target: kind == .symbolicLink ? try root.target(ofLink: path)?.bytes : nil)
        return (entry, kind)
    }

    private func archiveName(_ payload: Payload, _ context: StageContext) throws(Failure) -> FileName {
        do throws(TemplateProblem) {
            var bytes = try name.render(context.job.values)
            if format.isBare, ownName, let own = payload.fileName { bytes = own.bytes }
            if let name = FileName(bytes + Array(".\(format.rawValue)".utf8)), name.bytes.count <= FileName.longest {
                return name
            }
        } catch {
            throw .file("compress.name", "The archive's name cannot be rendered: \(error.message).")
        }
        throw .file(
            "compress.name", "The name of the archive of '\(context.job.drop.name)' is too long.",
            remedy: "Set a shorter 'name' in the stage 'compress'.")
    }

    private func failure(_ error: ArchiveWriter.Failure, _ target: FilePath, _ payload: Payload) -> Failure {
        switch error {
        case .system(let errno): Failure(inStage: IOError("write", target, errno))
        case .content(let errno): Failure(inStage: IOError("read", payload.path, errno))
        case .temporary(let errno):
            Failure(
                // Others use this folder too, and something else may be filling it. A file size limit
                // concerns this job only.
                errno == .fileTooLarge ? .transient : .environment,
                code: "compress.temporary",
                summary: "The temporary file of a 7z cannot be written in '\(ArchiveWriter.temporaryFolder.text)': "
                    + "\(errno).",
                remedy: "Free space there, and processing resumes by itself; or start Dropmill with TMPDIR set to "
                    + "another folder, or use another 'format'."
            )
        case .impossible(let words):
            .file(
                "compress.impossible", "A file of the payload cannot be stored as \(format.rawValue).",
                remedy: "Use 'format: tar.zst', which supports any name and size.", detail: words)
        }
    }
}

extension ArchiveWriter.Format {
    /// The time of every entry of an archive that is to be the same each time: 1980, the first year that zip knows. A
    /// zip has local times, so it is given none, and begins its time by itself.
    fileprivate var fixedTime: Int? { self == .zip ? nil : 315_532_800 }
}

import Archive
import Glibc
package import PipelineKit
import SystemPackage

/// Makes an archive's contents the payload.
package struct UnpackStage: Stage {
    private static let require = StageOption<Bool>.flag(
        "require", "whether a drop that is no archive fails", default: false)
    private static let documents = StageOption<Bool>.flag(
        "documents", "whether documents that happen to be archives (docx, epub, jar, deb, …) are unpacked too",
        default: false)

    package static let descriptor = StageDescriptor(
        kind: "unpack",
        summary:
            "Replaces an archive by its contents, and a compressed file by the file; anything else passes as it is.",
        options: [require.erased, documents.erased],
        effects: [.replacesPayload],
        example: "unpack: { require: true }")

    private let require: Bool
    private let documents: Bool

    package init(options: StageOptions) throws(OptionProblem) {
        require = try options.value(Self.require)
        documents = try options.value(Self.documents)
    }

    package func run(_ payload: Payload, in context: StageContext) throws(StageFailure) -> Payload {
        guard case .file(let name) = payload.shape else { return payload }
        try context.checkCancelled()
        let source = try StageFailure.onIOError { () throws(IOError) in
            try OpenFile.open(payload.path, O_RDONLY | O_NOFOLLOW)
        }
        guard let format = try archiveFormat(of: source, name) else { return payload }
        var unpacked = try unpack(source, format, name, into: try context.makeScratch(), context)
        // Its companions spoke of the file that is no longer the payload.
        unpacked.destination = payload.destination
        return unpacked
    }

    /// The format to unpack, or nil where the file passes as it is.
    private func archiveFormat(of source: borrowing OpenFile, _ name: FileName) throws(StageFailure) -> ArchiveFormat? {
        let sniff: ArchiveSniff
        do throws(ArchiveError) {
            sniff = try ArchiveSniff.look(at: source.descriptor)
        } catch {
            throw StageFailure(error, archive: source.path, folder: source.path)
        }
        guard let format = sniff.format else {
            if !require { return nil }
            throw .file(
                "archive.none", "'\(name)' is no archive, and only archives are taken here.",
                remedy: "Pack it (zip, tar, 7z, …) and drop it again.")
        }
        return !documents && Documents.contains(name, sniff) ? nil : format
    }

    private func unpack(
        _ source: borrowing OpenFile, _ format: ArchiveFormat, _ name: FileName, into folder: FilePath,
        _ context: StageContext
    ) throws(StageFailure) -> Payload {
        let root = try StageFailure.onIOError { () throws(IOError) in try OpenFile.openFolder(folder) }
        let status = try StageFailure.onIOError { () throws(IOError) in try source.status() }
        let progress: ArchiveExtractor.Progress = { (bytes, entries) throws(ArchiveError) in
            context.progress.add(bytes: bytes, entries: entries)
            if context.cancellation.isCancelled { throw .stopped }
        }
        let isStopped = { context.cancellation.isCancelled }
        do throws(ArchiveError) {
            switch try ArchiveReader.open(source.descriptor, format: format, isStopped: isStopped) {
            case .archive(let reader):
                try ArchiveExtractor(root: root.descriptor).extract(reader, progress: progress)
                return Payload(folder: folder)
            case .file(let file):
                let unpackedName = UnpackedName.of(name)
                try file.extract(
                    as: unpackedName.bytes, in: root.descriptor, mode: status.st_mode,
                    modified: (status.st_mtim.tv_sec, status.st_mtim.tv_nsec),
                    progress: progress)
                return Payload(file: unpackedName, in: folder)
            }
        } catch {
            throw StageFailure(error, archive: source.path, folder: folder)
        }
    }
}

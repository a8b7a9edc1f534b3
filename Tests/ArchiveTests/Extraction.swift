import Archive
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// What tests of extraction need: files in, the tree or the error out.
struct Extraction {
    let scratch: ScratchFolder
    let folder: FilePath

    /// A scratch folder whose `out` is extracted to.
    init() throws {
        scratch = try ScratchFolder()
        folder = try scratch.makeFolder("out")
    }

    /// Extracts these bytes to `out`.
    func extract(_ bytes: [UInt8], limits: ExtractionLimits = ExtractionLimits()) throws {
        try extract(try scratch.write(bytes, to: scratch.path("archive")), limits: limits)
    }

    /// Extracts a file to `out`; a compressed file that is no archive becomes `lone`.
    func extract(
        _ archive: FilePath, stopAfter limit: Int64 = .max, isStopped: @escaping () -> Bool = { false },
        limits: ExtractionLimits = ExtractionLimits()
    ) throws {
        let source = try OpenFile.open(archive, O_RDONLY)
        let root = try OpenFile.openFolder(folder)
        let format = try #require(try ArchiveSniff.look(at: source.descriptor).format)
        var total: Int64 = 0
        let progress: ArchiveExtractor.Progress = { (bytes, _) throws(ArchiveError) in
            total += bytes
            if total > limit { throw .stopped }
        }
        switch try ArchiveReader.open(source.descriptor, format: format, isStopped: isStopped) {
        case .archive(let reader):
            try ArchiveExtractor(root: root.descriptor, limits: limits).extract(reader, progress: progress)
        case .file(let file):
            try file.extract(
                as: Array("lone".utf8), in: root.descriptor, mode: 0o640, modified: (99, 0),
                progress: progress)
        }
    }

    /// The problem that extracting these bytes ends with; nil where it ends well.
    func problem(_ bytes: [UInt8], limits: ExtractionLimits = ExtractionLimits()) throws -> ArchiveError.Problem? {
        do {
            try extract(bytes, limits: limits)
            return nil
        } catch ArchiveError.bad(let problem) {
            return problem
        }
    }

    /// What lies in `out`.
    func tree() throws -> [String] { try scratch.tree("out") }

    /// What lies beside `out`: nothing but the archive, or something got out.
    func outside() throws -> [String] {
        try Folder.names(in: scratch.path).map(\.text).filter { $0 != "out" && $0 != "archive" }
    }

    /// The metadata of an extracted entry.
    func status(_ relative: String) throws -> stat {
        var status = stat()
        let result = scratch.path("out").pushing(FilePath(relative)).withPlatformString { lstat($0, &status) }
        try #require(result == 0)
        return status
    }
}

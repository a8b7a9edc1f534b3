import Files
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Archive

/// What tests of extraction need: files in, the tree or the error out. In this process, which a test can look into.
struct Extraction {
    let scratch: ScratchFolder
    let folder: FilePath
    /// What the archive is called.
    var name = "lone"

    /// A scratch folder whose `out` is extracted to.
    init() throws {
        scratch = try ScratchFolder()
        folder = try scratch.makeFolder("out")
    }

    /// Every format, one thread.
    static var policy: UnpackPolicy {
        var policy = UnpackPolicy()
        policy.formats = Set(ArchiveFormat.all)
        return policy
    }

    /// Extracts these bytes to `out`.
    @discardableResult
    func extract(_ bytes: [UInt8], _ policy: UnpackPolicy = policy) throws -> Unpacking.Report {
        try extract(try scratch.write(bytes, to: scratch.path("archive")), policy)
    }

    /// Extracts a file to `out`; a compressed file that is no archive becomes `lone`.
    @discardableResult
    func extract(
        _ archive: FilePath, _ policy: UnpackPolicy = policy, stopAfter limit: Int64 = .max,
        isStopped: @escaping @Sendable () -> Bool = { false }
    ) throws -> Unpacking.Report {
        let source = try OpenFile.open(archive, O_RDONLY)
        let root = try OpenFile.openFolder(folder)
        guard let format = try ArchiveSniff.look(at: source.descriptor).format else { throw NoArchive() }
        try Unpacking.prepare(root.descriptor, policy)
        let total = Total()
        let monitor = UnpackMonitor(
            report: { @Sendable (bytes, _) in total.add(bytes) },
            isStopped: { @Sendable in total.value > limit || isStopped() })
        return try Unpacking.run(
            source.descriptor, format: format, to: root.descriptor,
            alone: Unpacking.LoneFile(name: Array(name.utf8), modified: (99, 0)), policy: policy, monitor: monitor)
    }

    private final class Total: Sendable {
        private let sum = Atomic<Int64>(0)
        var value: Int64 { sum.load(ordering: .relaxed) }
        func add(_ bytes: Int64) { sum.wrappingAdd(bytes, ordering: .relaxed) }
    }

    /// The problem that extracting these bytes ends with; nil where it ends well.
    func problem(_ bytes: [UInt8], _ policy: UnpackPolicy = policy) throws -> ArchiveError.Problem? {
        do {
            try extract(bytes, policy)
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

/// The first bytes are those of no archive.
struct NoArchive: Error {}

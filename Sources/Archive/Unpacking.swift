import CLinux
import Glibc
import SystemPackage

/// Unpacks one archive, and where wanted those within it, below one folder.
///
/// It parses untrusted input, so it belongs in a process that can do nothing else (see `UnpackWorker`).
package struct Unpacking {
    /// What came out.
    package struct Report: Sendable, Equatable {
        /// Whether it is one file, of the name that was asked for, and no tree.
        package var isLoneFile = false
        /// Whether the content is proved to be what was packed.
        package var integrity = Integrity.verified
        /// Entries, of the archives within it too.
        package var entries: Int64 = 0
        /// Bytes of all files together.
        package var bytes: Int64 = 0
        /// Links that were left out.
        package var skippedLinks: Int64 = 0
        /// Archives within it that were unpacked too.
        package var nested: Int64 = 0
    }

    /// A compressed file that is not an archive becomes one file: its name and time.
    package struct LoneFile: Sendable, Equatable {
        /// The name of the compressed file itself: what comes out is named after it.
        package var name: [UInt8]
        /// When the compressed file was changed, which gzip(1) takes for the file.
        package var modified: (seconds: Int64, nanoseconds: Int64)

        package init(name: [UInt8], modified: (seconds: Int64, nanoseconds: Int64)) {
            self.name = name
            self.modified = modified
        }

        /// Whether both are the same.
        package static func == (left: LoneFile, right: LoneFile) -> Bool {
            left.name == right.name && left.modified == right.modified
        }
    }

    private let policy: UnpackPolicy
    private let budget: Budget
    private let names: NameRegister?
    private var report = Report()

    private init(_ policy: UnpackPolicy, _ budget: Budget) {
        self.policy = policy
        self.budget = budget
        names = policy.uniqueNames == .strict ? NameRegister(most: policy.limits.entries) : nil
    }

    /// Gives the folder that is unpacked to its mode. Before `run`, and before the right to is given up.
    package static func prepare(_ root: Int32, _ policy: UnpackPolicy) throws(ArchiveError) {
        try TreeWriter.openTop(root, policy)
    }

    /// Unpacks the archive to an empty folder; both descriptors must stay open. On an error what was unpacked so far
    /// stays: the folder is to be thrown away.
    package static func run(
        _ archive: Int32, format: ArchiveFormat, to root: Int32, alone: LoneFile, policy: UnpackPolicy,
        monitor: UnpackMonitor = UnpackMonitor()
    ) throws(ArchiveError) -> Report {
        let budget = Budget(policy.limits, monitor, folder: root)
        var unpacking = Unpacking(policy, budget)
        unpacking.report.isLoneFile = try unpacking.unpack(
            archive, format, to: root, alone: alone, nesting: policy.nested, policy.limits, isTop: true)
        unpacking.report.entries = budget.entries
        unpacking.report.bytes = budget.bytes
        return unpacking.report
    }

    /// Unpacks one archive; gives whether it was one compressed file.
    private mutating func unpack(
        _ archive: Int32, _ format: ArchiveFormat, to root: Int32, alone: LoneFile, nesting: Int,
        _ limits: ExtractionLimits, above: [UInt8] = [], isTop: Bool, isCovered: Bool = false
    ) throws(ArchiveError) -> Bool {
        // What comes out of an archive within is not input, or a few bytes would be allowed to swell in each layer.
        let input = try ArchiveInput(archive, budget, counts: isTop)
        if isTop { budget.expect(size: input.size) }
        // An archive in one that is verified is verified byte for byte.
        let (integrity, why) = isCovered ? (.verified, "") : try IntegrityCheck.expected(of: input, format)
        if policy.requiresIntegrity, integrity == .unverifiable { throw .unverifiable(why) }
        report.integrity = min(report.integrity, integrity)
        var policy = policy
        policy.nested = nesting
        policy.limits = limits
        var writer = TreeWriter(root: root, policy, budget, names: names, above: above)
        var isLoneFile = false
        switch format {
        case .container(.zip): try ZipExtractor.extract(input, archive, to: &writer)
        case .container(let container) where container.isStream:
            try LibraryExtractor.extract(
                ArchiveReader.open(ByteStream(plain: input, budget), container, policy), to: &writer)
        case .container(let container):
            try LibraryExtractor.extract(ArchiveReader.open(input, container, policy, passwords: []), to: &writer)
        case .compressed(let compression):
            let stream = try ByteStream(input, compression, budget, threads: policy.workers)
            if let container = stream.container(named: alone.name), policy.formats.contains(.container(container)) {
                try LibraryExtractor.extract(ArchiveReader.open(stream, container, policy), to: &writer)
            } else {
                isLoneFile = true
                try write(stream, alone, to: &writer)
            }
        }
        try unpackNested(&writer, nesting, above: above, isCovered: integrity == .verified)
        try writer.makeLinks()
        try writer.setFolderTimes()
        report.skippedLinks += writer.deferred.skippedLinks
        return isLoneFile
    }

    private func write(
        _ stream: ByteStream, _ alone: LoneFile, to writer: inout TreeWriter
    ) throws(ArchiveError) {
        try budget.begin(alone.name)
        let path = try writer.check(UnpackedName.of(alone.name))
        var file = try writer.createFile(path, mode: 0o644)
        writer.noteArchive(path, head: stream.contentHead)
        var length: Int64 = 0
        while let block = try stream.next() {
            try file.write(block, at: length)
            length += Int64(block.count)
        }
        let modified = timespec(tv_sec: Int(alone.modified.seconds), tv_nsec: Int(alone.modified.nanoseconds))
        try file.finish(length: length, modified: FileTimes.clamp(modified, to: writer.now))
    }

    /// Puts the contents of archives that were in the archive into their places: a folder of the archive's own name, or
    /// the file that a compressed file holds.
    private mutating func unpackNested(
        _ writer: inout TreeWriter, _ nesting: Int, above: [UInt8], isCovered: Bool
    ) throws(ArchiveError) {
        for archive in writer.deferred.archives where writer.isLast(archive.path, archive.turn) {
            let path = try EntryPath(archive.path, policy.limits)
            let parent = try writer.cursor.enter(path.folder, for: path.stored)
            let source = path.withName { dm_open_beneath(parent, $0, O_RDONLY, 0) }
            guard source >= 0 else { throw Self.failure("open", path) }
            defer { close(source) }
            var status = stat()
            guard dm_status(source, &status) == 0, path.withName({ unlinkat(parent, $0, 0) }) == 0 else {
                throw Self.failure("open", path)
            }
            let name = archive.path.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? archive.path
            let alone = LoneFile(
                name: name, modified: (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec)))
            report.nested += 1
            // A path within a path is one path.
            var limits = writer.policy.limits
            let way = above + [UInt8(ascii: "/")] + archive.path
            do throws(ArchiveError) {
                if case .compressed = archive.format, try isLone(source, archive.format, name) {
                    limits.pathAbove += archive.path.count - name.count
                    limits.depthAbove += path.depth
                    _ = try unpack(
                        source, archive.format, to: parent, alone: alone, nesting: nesting - 1, limits,
                        above: way.dropLast(name.count), isTop: false, isCovered: isCovered)
                } else {
                    try writer.makeFolder(path, modified: nil)
                    let folder = path.withName { dm_open_beneath(parent, $0, O_RDONLY | O_DIRECTORY, 0) }
                    guard folder >= 0 else { throw Self.failure("open", path) }
                    defer { close(folder) }
                    limits.pathAbove += archive.path.count + 1
                    limits.depthAbove += path.depth + 1
                    _ = try unpack(
                        source, archive.format, to: folder, alone: alone, nesting: nesting - 1, limits, above: way,
                        isTop: false, isCovered: isCovered)
                }
            } catch {
                throw error.within(archive.path)
            }
        }
    }

    /// Whether a compressed file holds one file and no archive.
    private func isLone(
        _ source: Int32, _ format: ArchiveFormat, _ name: [UInt8]
    ) throws(ArchiveError) -> Bool {
        guard case .compressed(let compression) = format else { return false }
        let stream = try ByteStream(ArchiveInput(source, budget, counts: false), compression, budget, threads: 1)
        return stream.container(named: name).map { !policy.formats.contains(.container($0)) } ?? true
    }

    private static func failure(_ action: String, _ path: EntryPath) -> ArchiveError {
        .system(action: action, entry: path.stored, errno: Errno(rawValue: errno))
    }
}

extension ArchiveError {
    fileprivate func within(_ archive: [UInt8]) -> ArchiveError {
        let slash = [UInt8(ascii: "/")]
        switch self {
        case .bad(let problem):
            let entry = problem.entry.map { archive + slash + $0 } ?? archive
            return .bad(
                Problem(
                    code: problem.code, entry: entry, fact: problem.fact, remedy: problem.remedy, detail: problem.detail
                ))
        case .system(let action, let entry, let errno):
            return .system(action: action, entry: entry.map { archive + slash + $0 } ?? archive, errno: errno)
        case .stopped: return self
        }
    }
}

extension ArchiveFormat.Container {
    /// Whether it is read from its beginning to its end and can lie in a compressed stream.
    var isStream: Bool { self == .tar || self == .cpio || self == .ar }
}

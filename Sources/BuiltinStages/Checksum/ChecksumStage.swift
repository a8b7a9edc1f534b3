import Digests
package import Files
import Glibc
package import PipelineKit
import SystemPackage

/// Makes digests of the payload's files, in one pass over each, in forms that other tools read.
package struct ChecksumStage: OwnStage {
    private enum Mode: String, CaseIterable, Sendable {
        /// A list in the folder; a payload of one file gets a sidecar all the same.
        case manifest
        /// A file beside each file.
        case sidecar
    }

    private enum Single: String, CaseIterable, Sendable {
        /// A file beside it.
        case sidecar
        /// A line in a list of the folder that it is published to.
        case list
    }

    private static let algorithm = StageOption<[DigestAlgorithm]>.algorithms("algorithm", "the digest algorithms")
    private static let manifest = StageOption<FileName?>.name(
        "manifest", "the name of the list, one for all algorithms", shown: "SHA256SUMS, MD5SUMS, …")
    private static let format = StageOption<ChecksumFormat>.choice(
        "format", "how digests are written: as `sha256sum`, as `sha256sum --tag`, as JSON, or as SFV (CRC-32 alone)",
        default: .gnu)
    private static let mode = StageOption<Mode>.choice(
        "mode", "a list in a payload of many files, or a sidecar for each file", default: .manifest)
    private static let into = StageOption<Single>.choice(
        "into", "where the digest of a single file goes: beside it, or into one list for each folder of files",
        default: .sidecar)

    package static let descriptor = StageDescriptor(
        kind: "checksum",
        summary:
            "Writes the files' digests to a manifest for sha256sum -c; a single file gets a sidecar NAME.sha256, or a "
            + "line in a list.",
        options: [algorithm.erased, manifest.erased, format.erased, mode.erased, into.erased],
        example: "checksum: { algorithm: sha256, manifest: SHA256SUMS }")

    private let algorithms: [DigestAlgorithm]
    private let format: ChecksumFormat
    private let mode: Mode
    private let single: Single
    private let manifests: [ManifestPlan.Wanted]

    /// Digests of a single file can be named by what comes later: `{sha256}`.
    package var facts: [String] { algorithms.map(\.rawValue) }
    package var label: String? { algorithms.map(\.rawValue).joined(separator: ", ") }

    package var lists: [FileName] { single == .list ? manifests.map(\.name) : [] }

    package init(options: StageOptions) throws(OptionProblem) {
        let format = try options.value(Self.format)
        let isPlainSFV = format == .sfv && !options.isGiven(Self.algorithm)
        let algorithms = isPlainSFV ? [.crc32] : try options.value(Self.algorithm)
        guard format != .sfv || algorithms == [.crc32] else {
            throw options.problem("'format: sfv' holds CRC-32 alone; leave 'algorithm' out, or set it to crc32")
        }
        self.algorithms = algorithms
        self.format = format
        mode = try options.value(Self.mode)
        single = try options.value(Self.into)
        if single == .list {
            guard mode == .manifest else {
                throw options.problem(
                    "'into: list' writes one list for each folder, and 'mode: sidecar' a sidecar for each file; leave "
                        + "one of them out")
            }
            guard format != .json else {
                throw options.problem(
                    "'into: list' adds a line for each file, and 'format: json' has no lines; use 'format: gnu' or "
                        + "'format: bsd'")
            }
        }
        if let name = try options.value(Self.manifest) {
            guard mode == .manifest else {
                throw options.problem("'manifest' names a list, but 'mode: sidecar' makes none; leave one of them out")
            }
            guard algorithms.count == 1 || format != .gnu else {
                throw options.problem(
                    "'manifest' names one file, and lines of 'format: gnu' do not tell the \(algorithms.count) "
                        + "algorithms apart; leave it out, and each gets its own (SHA256SUMS, MD5SUMS, …), or use "
                        + "'format: bsd'")
            }
            manifests = [ManifestPlan.Wanted(name: name, algorithms: algorithms, format: format)]
        } else {
            manifests = algorithms.compactMap { algorithm in
                FileName(format.listName(algorithm)).map {
                    ManifestPlan.Wanted(name: $0, algorithms: [algorithm], format: format)
                }
            }
        }
    }

    package func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        switch (payload.shape, mode) {
        case (.file, _): return try addDigests(payload, context)
        case (.folder, .manifest): try writeManifests(payload, context)
        case (.folder, .sidecar): try writeSidecars(payload, context)
        }
        return payload
    }

    package var isQuick: Bool { true }

    package var addsToFolders: Bool { true }

    package func pass(_ payload: Payload, of job: Job, holding content: SmallContent) -> Payload? {
        guard format.holds(job.drop.name.bytes) else { return nil }
        var payload = payload
        do throws(DigestError) {
            for algorithm in algorithms {
                var hashing = try DigestContext.start(algorithm)
                try hashing.update(content.bytes)
                add(try hashing.finish(), to: &payload)
            }
            return payload
        } catch {
            return nil
        }
    }

    private func add(_ digest: Digest, to payload: inout Payload) {
        switch single {
        case .sidecar:
            let sidecar = format.sidecar(digest)
            payload.sidecars.removeAll { $0.suffix == sidecar.suffix }
            payload.sidecars.append(sidecar)
        case .list:
            for manifest in manifests where manifest.algorithms.contains(digest.algorithm) {
                guard let line = format.line(digest, in: manifest.name) else { continue }
                payload.lines.removeAll { $0.isLike(line) }
                payload.lines.append(line)
            }
        }
        payload.digests[digest.algorithm.rawValue] = digest.hex
    }

    private func addDigests(_ payload: Payload, _ context: StageContext) throws(Failure) -> Payload {
        let hashing = PayloadHashing(root: payload.root, algorithms: algorithms, context: context)
        var payload = payload
        let files = try Failure.onIOError { () throws(IOError) in try context.files(of: payload) }
        try checkNames(files)
        for digest in try hashing.digests(of: files, announcingSize: true).joined() {
            add(digest, to: &payload)
        }
        return payload
    }

    private func writeManifests(_ payload: Payload, _ context: StageContext) throws(Failure) {
        let (draft, tree) = try prepare(payload, context)
        try checkNames(tree.files)
        let hashing = PayloadHashing(root: payload.root, algorithms: algorithms, context: context)
        let table = DigestTable(files: tree.files, digests: try hashing.digests(of: tree.files))
        let root = try Failure.onIOError { () throws(IOError) in try context.open(payload.root) }
        let plan = try ManifestPlan(manifests, table: table, others: tree.folders + tree.links, in: root)
        for manifest in plan.missing {
            try context.checkCancelled()
            try Failure.onIOError { () throws(IOError) in
                try SmallFile.write(
                    manifest.contents, to: FilePath().appending(manifest.name), in: root, by: draft)
            }
        }
    }

    private func writeSidecars(_ payload: Payload, _ context: StageContext) throws(Failure) {
        let (draft, tree) = try prepare(payload, context)
        try checkNames(tree.files)
        let root = try Failure.onIOError { () throws(IOError) in try context.open(payload.root) }
        var plan = SidecarPlan(tree, algorithms: algorithms, format: format)
        let candidates = plan.candidates(tree.files)
        let plain = Set(tree.files).subtracting(candidates).sorted()
        var ours = try writeSidecars(of: plain, &plan, root, draft, context)
        // What looks like a sidecar and is none of ours came with the payload. Shortest first, since one may be the
        // sidecar of another.
        for file in candidates.sorted(by: { ($0.bytes.count, $0) < ($1.bytes.count, $1) })
        where !ours.contains(file.bytes) {
            ours.formUnion(try writeSidecars(of: [file], &plan, root, draft, context))
        }
    }

    private func writeSidecars(
        of files: [TreeFile], _ plan: inout SidecarPlan, _ root: borrowing Folder, _ draft: FilePath,
        _ context: StageContext
    ) throws(Failure) -> Set<[UInt8]> {
        let hashing = PayloadHashing(root: root.path, algorithms: algorithms, context: context)
        var ours: Set<[UInt8]> = []
        for (file, digests) in zip(files, try hashing.digests(of: files)) {
            try context.checkCancelled()
            do throws(IOError) {
                let sidecars = try plan.sidecars(of: file, digests, in: root)
                ours.formUnion(sidecars.ours.map(\.bytes))
                for (path, contents) in sidecars.missing {
                    try SmallFile.write(contents, to: path, in: root, by: draft)
                }
            } catch {
                throw Failure(inStage: error)
            }
        }
        return ours
    }

    /// Where files are written before they get their names, and what the payload holds.
    private func prepare(
        _ payload: Payload, _ context: StageContext
    ) throws(Failure) -> (draft: FilePath, tree: FileTree) {
        try Failure.onIOError { () throws(IOError) in
            // One that an attempt before this one could not complete.
            let root = try context.open(payload.root)
            let draft = FilePath(".manifest-\(context.job.id)")
            try root.remove(draft)
            return (draft, try FileTree.list(root))
        }
    }

    private func checkNames(_ files: [TreeFile]) throws(Failure) {
        guard let file = files.first(where: { !format.holds($0.bytes) }) else { return }
        throw .file(
            "checksum.name", "'\(file.relative.text)' is a name that an SFV list cannot hold.",
            remedy: "Add a 'rename' stage before 'checksum', or use another 'format'.")
    }
}

extension StageOption where Value == [DigestAlgorithm] {
    /// One algorithm or several; SHA-256 unless given.
    static func algorithms(
        _ name: String, _ summary: String, among algorithms: [DigestAlgorithm] = DigestAlgorithm.allCases
    ) -> Self {
        let known = algorithms.map(\.rawValue)
        return Self(
            name, summary, takes: known.joined(separator: " | ") + ", or a list", default: [.sha256],
            shown: DigestAlgorithm.sha256.rawValue, schema: .distinct(.choice(known))
        ) { (node, _) throws(OptionProblem) in
            var chosen: [DigestAlgorithm] = []
            for member in node.members {
                let algorithm = try member.choice(of: DigestAlgorithm.self)
                guard algorithms.contains(algorithm) else {
                    throw member.problem("'\(algorithm.rawValue)' is not one of \(known.joined(separator: ", "))")
                }
                if chosen.contains(algorithm) { throw member.problem("'\(algorithm.rawValue)' is named twice") }
                chosen.append(algorithm)
            }
            if chosen.isEmpty { throw node.problem("name at least one algorithm, such as sha256") }
            return chosen
        }
    }
}

import Digests
import Glibc
package import PipelineKit
import SystemPackage

/// Makes digests of the payload's files, in a form that `sha256sum -c` reads.
package struct ChecksumStage: Stage {
    private static let algorithm = StageOption<[DigestAlgorithm]>(
        "algorithm", "how the digests are made",
        takes: DigestAlgorithm.allCases.map(\.rawValue).joined(separator: " | ") + ", or a list", default: [.sha256],
        shown: DigestAlgorithm.sha256.rawValue
    ) { (node, _) throws(OptionProblem) in
        var algorithms: [DigestAlgorithm] = []
        for member in node.members {
            let algorithm = try member.choice(of: DigestAlgorithm.self)
            if algorithms.contains(algorithm) { throw member.problem("'\(algorithm.rawValue)' is named twice") }
            algorithms.append(algorithm)
        }
        if algorithms.isEmpty { throw node.problem("name at least one algorithm, such as sha256") }
        return algorithms
    }

    private static let manifest = StageOption<FileName?>(
        "manifest", "the name of the file that lists the digests of a payload of many files", takes: "a file name",
        default: .some(nil), shown: "SHA256SUMS, MD5SUMS, …"
    ) { (node, _) throws(OptionProblem) in
        let text = try node.string()
        guard let name = FileName(text), name.bytes.count <= FileName.longest else {
            throw node.problem("'\(text)' is no name for a file; write one such as SHA256SUMS")
        }
        return name
    }

    package static let descriptor = StageDescriptor(
        kind: "checksum",
        summary:
            "Lists the files' digests in a manifest for sha256sum -c; a single file gets NAME.sha256 beside it.",
        options: [algorithm.erased, manifest.erased],
        example: "checksum: { algorithm: sha256, manifest: SHA256SUMS }")

    private let algorithms: [DigestAlgorithm]
    private let manifests: [FileName]

    package init(options: StageOptions) throws(OptionProblem) {
        algorithms = try options.value(Self.algorithm)
        if let name = try options.value(Self.manifest) {
            guard algorithms.count == 1 else {
                throw options.problem(
                    "'manifest' names one file, but there are \(algorithms.count) algorithms; leave it out, and "
                        + "each gets "
                        + "its own (SHA256SUMS, MD5SUMS, …), or use one stage 'checksum' for each")
            }
            manifests = [name]
        } else {
            manifests = algorithms.compactMap { FileName("\($0.rawValue.uppercased())SUMS") }
        }
    }

    package func run(_ payload: Payload, in context: StageContext) throws(StageFailure) -> Payload {
        switch payload.shape {
        case .file: try addCompanions(payload, context)
        case .folder: try writeManifests(payload, context)
        }
    }

    private func addCompanions(_ payload: Payload, _ context: StageContext) throws(StageFailure) -> Payload {
        let hashing = PayloadHashing(root: payload.root, algorithms: algorithms, context: context)
        var payload = payload
        for digest in try hashing.digests(of: try StageFailure.onIOError(payload.files), announcingSize: true).joined()
        {
            let suffix = ".\(digest.algorithm.rawValue)"
            payload.companions.removeAll { $0.suffix == suffix }
            payload.companions.append(Companion(suffix: suffix, parts: [.checksumLine(digest: digest.hex)]))
            payload.digests[digest.algorithm.rawValue] = digest.hex
        }
        return payload
    }

    private func writeManifests(_ payload: Payload, _ context: StageContext) throws(StageFailure) -> Payload {
        // One that an attempt before this one could not complete.
        let draft = payload.root.appending(".manifest-\(context.job)")
        try StageFailure.onIOError { () throws(IOError) in try Folder.remove(draft) }
        let tree = try StageFailure.onIOError { () throws(IOError) in try FileTree.list(payload.root) }
        let hashing = PayloadHashing(root: payload.root, algorithms: algorithms, context: context)
        let table = DigestTable(files: tree.files, digests: try hashing.digests(of: tree.files))
        let plan = try ManifestPlan(
            names: manifests, table: table, others: tree.folders + tree.links, root: payload.root)
        for manifest in plan.missing {
            try context.checkCancelled()
            try StageFailure.onIOError { () throws(IOError) in
                try manifest.write(to: payload.root, by: draft)
            }
        }
        return payload
    }
}

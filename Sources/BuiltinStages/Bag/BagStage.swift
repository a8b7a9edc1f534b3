import Digests
import Files
import Glibc
package import PipelineKit
import SystemPackage

/// Makes a BagIt bag of the payload.
package struct BagStage: OwnStage {
    private static let algorithm = StageOption<[DigestAlgorithm]>.algorithms(
        "algorithm", "the manifests' digest algorithms", among: [.sha256, .sha512, .sha384, .sha1, .md5])
    private static let info = StageOption<[(key: String, value: Template)]>(
        "info", "entries of bag-info.txt, such as `Contact-Name: …`, with placeholders", takes: "a map of strings",
        default: [], shown: "", schema: .map(.anyNumber(.text))
    ) { (node, context) throws(OptionProblem) in
        guard case .map(let entries) = node.content else { throw node.problem("expected a map, found \(node.kind)") }
        var info: [(key: String, value: Template)] = []
        for entry in entries {
            let isPlain = !entry.key.contains { ":\n\r".contains($0) } && entry.key.first?.isWhitespace == false
            guard isPlain, entry.key.last?.isWhitespace == false else {
                throw entry.problem("'\(EscapedText.of(entry.key))' is not a bag-info.txt label")
            }
            let own = ["payload-oxum", "bagging-date", "bag-software-agent"]
            guard !own.contains(entry.key.lowercased()) else {
                throw OptionProblem("'\(entry.key)' is written by the stage; remove it", at: entry.position)
            }
            for member in entry.value.members {
                info.append((entry.key, try member.template(for: .path, in: context)))
            }
        }
        return info
    }

    package static let descriptor = StageDescriptor(
        kind: "bag",
        summary: "Makes a BagIt 1.0 bag (RFC 8493) of the payload: its files in 'data', next to their manifests.",
        options: [algorithm.erased, info.erased],
        effects: [.replacesPayload],
        example: """
            bag: { algorithm: sha512, info: { Source-Organization: City Archive, External-Identifier: "{stem}" } }
            """)

    private let algorithms: [DigestAlgorithm]
    private let info: [(key: String, value: Template)]

    package init(options: StageOptions) throws(OptionProblem) {
        algorithms = try options.value(Self.algorithm)
        info = try options.value(Self.info)
    }

    package func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        try context.checkCancelled()
        var bag = try Rebuilding(payload, in: context)
        try bag.makeFolder("data", like: "")
        let tree = try files(of: payload, context)
        for folder in tree.folders { try bag.makeFolder(FilePath("data").pushing(folder), like: folder) }
        for file in tree.files { try bag.put(file.relative, as: FilePath("data").pushing(file.relative)) }
        let hashing = PayloadHashing(root: payload.root, algorithms: algorithms, context: context)
        let digests = try hashing.digests(of: tree.files)
        var tags: [(name: String, contents: [UInt8])] = []
        tags.append(("bagit.txt", Array("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n".utf8)))
        tags.append(("bag-info.txt", try infoText(tree.files, payload, context)))
        for (index, algorithm) in algorithms.enumerated() {
            let lines = zip(tree.files, digests).map { file, digests in
                Self.line(digests[index], [UInt8]("data/".utf8) + file.bytes)
            }
            tags.append(("manifest-\(algorithm.rawValue).txt", Array(lines.joined())))
        }
        try write(tags, to: bag.root, context)
        try bag.finish()
        return Payload(folder: bag.root).inPlace(of: payload)
    }

    /// What goes into the bag; links are not followed, and a bag cannot hold them.
    private func files(of payload: Payload, _ context: StageContext) throws(Failure) -> FileTree {
        let tree = try Failure.onIOError { () throws(IOError) in try context.tree(of: payload) }
        if let link = tree.links.first {
            throw .file(
                "bag.link", "'\(link.text)' is a symbolic link, which a bag cannot hold.",
                remedy: "Replace the link with the file and drop it again.")
        }
        let paths = tree.files.map(\.relative) + tree.folders
        if let path = paths.first(where: { String(validating: $0.bytes, as: UTF8.self) == nil }) {
            throw .file(
                "bag.name", "'\(path.text)' is not valid UTF-8, which a bag's manifests require.",
                remedy: "Add a 'rename' stage before 'bag', or send the file under another name.")
        }
        return tree
    }

    private func write(
        _ tags: [(name: String, contents: [UInt8])], to root: FilePath, _ context: StageContext
    ) throws(Failure) {
        var all = tags
        for algorithm in algorithms {
            var lines: [UInt8] = []
            for tag in tags { lines += Self.line(try Self.digest(tag.contents, algorithm), Array(tag.name.utf8)) }
            all.append(("tagmanifest-\(algorithm.rawValue).txt", lines))
        }
        for tag in all {
            try Failure.onIOError { () throws(IOError) in
                let flags = O_WRONLY | O_CREAT | O_EXCL
                let file = try context.open(root).open(FilePath(tag.name), flags, mode: 0o666)
                try file.write(tag.contents)
                try file.close()
            }
        }
    }

    private func infoText(
        _ files: [TreeFile], _ payload: Payload, _ context: StageContext
    ) throws(Failure) -> [UInt8] {
        var bytes: Int64 = 0
        for file in files {
            let size = try Failure.onIOError { () throws(IOError) in
                Int64(try context.open(file, of: payload).status().st_size)
            }
            bytes = bytes.addingSaturated(size)
        }
        var text = ""
        for (key, value) in info {
            do throws(TemplateProblem) {
                text += "\(key): \(EscapedText.of(try value.render(context.job.values)))\n"
            } catch {
                throw .file("bag.info", "The value of '\(key)' in bag-info.txt cannot be rendered: \(error.message).")
            }
        }
        // The day of the claim, so that a second run writes the same.
        text += "Bagging-Date: \(context.job.values.date.formatted("%Y-%m-%d"))\n"
        text += "Bag-Software-Agent: Dropmill\n"
        return Array(text.utf8) + Array("Payload-Oxum: \(bytes).\(files.count)\n".utf8)
    }

    private static func line(_ digest: Digest, _ path: [UInt8]) -> [UInt8] {
        Array("\(digest.hex)  ".utf8) + BagPath.encoded(path) + [0x0A]
    }

    private static func digest(_ bytes: [UInt8], _ algorithm: DigestAlgorithm) throws(Failure) -> Digest {
        do throws(DigestError) {
            return try Digest.of(bytes, algorithm)
        } catch {
            throw Failure(
                .environment, code: "bag.algorithm", summary: "The digests cannot be computed.",
                remedy: "Choose another algorithm.", detail: "\(error)")
        }
    }
}

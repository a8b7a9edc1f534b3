import Digests
import Glibc
import PipelineKit
import SystemPackage

/// A BagIt bag (RFC 8493; drafts from 0.93 on) in a payload: its own texts, and whether its files are what they say.
struct BagReading {
    /// The bag's folder, from the payload's root on; empty where that is the bag itself.
    private let base: FilePath
    private let root: FilePath
    private let context: StageContext
    private let tree: FileTree
    private let isVersion1: Bool
    private let encoding: BagTexts.Encoding

    /// The bag that a folder is, or holds as its only entry; nil where it is none.
    static func find(
        in tree: FileTree, _ root: FilePath, _ context: StageContext
    ) throws(StageFailure) -> BagReading? {
        let declarations = tree.files.filter { $0.relative.lastComponent?.string == "bagit.txt" }
        // One at the top makes the whole a bag, whatever lies in its folders.
        let isNear: (Int) -> TreeFile? = { depth in declarations.first { $0.relative.components.count == depth } }
        guard let declaration = isNear(1) ?? isNear(2) else { return nil }
        let base = declaration.relative.removingLastComponent()
        guard base.isEmpty || tree.files.allSatisfy({ $0.relative.starts(with: base) }) else { return nil }
        return try BagReading(base, root, tree, context)
    }

    private init(
        _ base: FilePath, _ root: FilePath, _ tree: FileTree, _ context: StageContext
    ) throws(StageFailure) {
        self.base = base
        self.root = root
        self.tree = tree
        self.context = context
        let text = try Self.text(of: base.appending("bagit.txt"), root, context)
        let declared = try BagTexts.declared(in: text)
        isVersion1 = declared.version == "1.0"
        encoding = declared.encoding
    }

    /// Compares everything; throws with all that is wrong with the files, or with the first thing that is wrong with
    /// the bag's form.
    func verify() throws(StageFailure) {
        let own = tree.files.filter { $0.relative.starts(with: base) }
        let top = own.filter { $0.relative.removingLastComponent() == base }
            .compactMap { $0.relative.lastComponent?.string }
        if top.contains("fetch.txt") {
            throw Self.invalid(
                "it has parts elsewhere (fetch.txt), and nothing is fetched here", "Send the bag complete.")
        }
        guard tree.folders.contains(base.appending("data")) else {
            throw Self.invalid("it has no folder 'data'", "Put the files into a folder 'data' of the bag.")
        }
        var verification = Verification(tree)
        let lists = try manifests("manifest-", top)
        guard !lists.isEmpty else {
            throw Self.invalid(
                "it has no manifest with a known algorithm (manifest-sha256.txt)", "Make the bag with its manifests.")
        }
        let data = own.filter { $0.relative.starts(with: base.appending("data")) }
        // A bag has no links, and no list can name one.
        verification.extra.formUnion((tree.links + tree.specials).filter { $0.starts(with: base) }.map(\.bytes))
        var unlisted = Set(data.map(\.bytes))
        for (algorithm, name) in lists {
            let paths = try read(name, algorithm, into: &verification, context, mayName: { $0.starts(with: "data") })
            // From 1.0 on each manifest lists every file; before, one of them was enough.
            if isVersion1 {
                verification.extra.formUnion(data.map(\.bytes).filter { !paths.contains($0) })
            } else {
                unlisted.subtract(paths)
            }
        }
        if !isVersion1 { verification.extra.formUnion(unlisted) }
        for (algorithm, name) in try manifests("tagmanifest-", top) {
            _ = try read(
                name, algorithm, into: &verification, context,
                mayName: { !$0.starts(with: "data") && !($0.lastComponent?.string.hasPrefix("tagmanifest-") ?? false) })
        }
        try checkInfo(top, data)
        try verification.compare(below: root, context)
        if let failure = verification.failure(of: "The bag '\(context.drop.name)'", by: "its manifests") {
            throw failure
        }
    }

    /// The bag's manifests whose algorithm is known, by name.
    private func manifests(
        _ prefix: String, _ top: [String]
    ) throws(StageFailure) -> [(algorithm: DigestAlgorithm, name: String)] {
        top.sorted().compactMap { name in
            guard name.hasPrefix(prefix), name.hasSuffix(".txt") else { return nil }
            return BagTexts.algorithm(String(name.dropFirst(prefix.count).dropLast(4))).map { ($0, name) }
        }
    }

    /// Takes in one manifest; returns the paths of files that it names.
    private func read(
        _ name: String, _ algorithm: DigestAlgorithm, into verification: inout Verification, _ context: StageContext,
        mayName: (FilePath) -> Bool
    ) throws(StageFailure) -> Set<[UInt8]> {
        var paths: Set<[UInt8]> = []
        try ManifestFile.forEachLine(
            of: base.appending(name), in: try StageFailure.onIOError { () throws(IOError) in try context.open(root) },
            algorithm: algorithm, form: .bagIt, encoding: encoding, context,
            failing: { problem in
                switch problem {
                case .strange(let line):
                    Self.invalid("line \(line) of \(name) is no digest and path", "Make the bag anew.")
                case .tooManyLines(let most): Self.invalid("\(name) has more than \(most) lines", "Split the bag.")
                case .unreadable(let errno):
                    StageFailure(inStage: IOError("read", root.pushing(base).appending(name), errno))
                }
            }
        ) { (line) throws(StageFailure) in
            guard let digest = line.digest, let listed = line.path else { return }
            guard let inner = Verification.path(listed, in: FilePath()).map({ FilePath(bytes: $0) }), mayName(inner)
            else {
                throw Self.invalid(
                    "\(name) names '\(EscapedText.of(listed))', which is not for it to name", "Make the bag anew.")
            }
            let path = base.pushing(known(inner, listed)).bytes
            verification.expect(digest, of: path)
            // What is not there fails as missing, however often it is named.
            guard verification.files[path] != nil else { return }
            guard paths.insert(path).inserted || !isVersion1 else {
                throw Self.invalid("\(name) names '\(EscapedText.of(listed))' twice", "Make the bag anew.")
            }
        }
        return paths
    }

    /// A path with `%0A`, `%0D` and `%25` decoded, or as it is where only such a file is there: not all tools encode
    /// the percent sign.
    private func known(_ path: FilePath, _ listed: [UInt8]) -> FilePath {
        guard listed.contains(UInt8(ascii: "%")) else { return path }
        let decoded = FilePath(bytes: BagPath.decoded(path.bytes))
        let files = Set(tree.files.map(\.relative))
        return !files.contains(base.pushing(decoded)) && files.contains(base.pushing(path)) ? path : decoded
    }

    /// `Payload-Oxum` of bag-info.txt: bytes and number of files.
    private func checkInfo(_ top: [String], _ data: [TreeFile]) throws(StageFailure) {
        guard top.contains("bag-info.txt") else { return }
        let text = BagTexts.utf8(try Self.text(of: base.appending("bag-info.txt"), root, context), encoding)
        guard let oxum = try BagTexts.oxum(ofInfo: text) else { return }
        var bytes: Int64 = 0
        for file in data {
            let size = try StageFailure.onIOError { () throws(IOError) in
                try FileSize.of(file, below: try context.open(root))
            }
            bytes = bytes.addingSaturated(size)
        }
        guard oxum == "\(bytes).\(data.count)" else {
            throw Self.invalid(
                "bag-info.txt speaks of \(oxum) (bytes and files), but there are \(bytes).\(data.count)",
                "Send the bag complete.")
        }
    }

    /// The most bytes of bagit.txt and of bag-info.txt.
    private static let mostBytes = 1 << 20

    private static func text(
        of path: FilePath, _ root: FilePath, _ context: StageContext
    ) throws(StageFailure) -> [UInt8] {
        do throws(IOError) {
            return try SmallFile.read(
                try context.open(root).open(path, O_RDONLY | O_NONBLOCK), atMost: mostBytes)
        } catch {
            guard error.errno == .fileTooLarge else { throw StageFailure(inStage: error) }
            throw invalid("'\(path.lastName?.text ?? "")' is too large", "Split the bag.")
        }
    }

    static func invalid(_ fact: String, _ remedy: String) -> StageFailure {
        .file("bag.invalid", "The BagIt bag is not valid: \(fact).", remedy: remedy)
    }
}

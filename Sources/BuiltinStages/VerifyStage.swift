import Digests
import Glibc
package import PipelineKit
import SystemPackage

/// Compares the payload with what is said of it: lists of digests in it, a file that was dropped along, a BagIt bag's
/// own manifests, or a digest that the options name.
package struct VerifyStage: Stage {
    private static let digest = StageOption<Digest?>(
        "digest", "the digest that a single file must have", takes: "ALGORITHM:HEX", default: .some(nil), shown: "",
        schema: .form("^(\(DigestAlgorithm.allCases.map(\.rawValue).joined(separator: "|"))):[0-9A-Fa-f]+$")
    ) { (node, _) throws(OptionProblem) in
        let text = try node.string()
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let algorithm = DigestAlgorithm(rawValue: String(parts[0])),
            let digest = Digest(algorithm, hex: parts[1].utf8)
        else { throw node.problem("'\(text)' is no digest; write one such as sha256:e3b0c442… in full") }
        return digest
    }
    private static let manifest = StageOption<[Glob]>.globs(
        "manifest", "which files of the payload are lists", shown: "*SUMS, *.md5, *.sha256, *.sfv, …")
    private static let extra = StageOption<Extra>.choice(
        "extra", "what files are that no list names", default: .fail)
    private static let require = StageOption<Bool>.flag(
        "require", "whether a payload that nothing is said of fails", default: true)

    private static let bag = StageOption<Bool>.flag(
        "bag", "whether nothing but a BagIt bag is taken", default: false)

    private enum Extra: String, CaseIterable, Sendable { case fail, allow }

    package static let descriptor = StageDescriptor(
        kind: "verify",
        summary:
            "Compares the payload with the lists of digests in it (SHA256SUMS, *.md5, *.sfv, a BagIt bag), with a "
            + "NAME.sha256 dropped along, or with a digest.",
        options: [digest.erased, manifest.erased, extra.erased, require.erased, bag.erased],
        example: "verify: { extra: fail }")

    private let digest: Digest?
    private let manifests: [Glob]
    private let extra: Extra
    private let require: Bool
    private let isBag: Bool

    package init(options: StageOptions) throws(OptionProblem) {
        digest = try options.value(Self.digest)
        manifests = try options.value(Self.manifest)
        extra = try options.value(Self.extra)
        require = try options.value(Self.require)
        isBag = try options.value(Self.bag)
    }

    package func run(_ payload: Payload, in context: StageContext) throws(StageFailure) -> Payload {
        try context.checkCancelled()
        switch payload.shape {
        case .file(let name):
            if isBag { throw Self.noBag(context) }
            return try verify(file: name, payload, context)
        case .folder: try verify(folder: payload.root, context)
        }
        return payload
    }

    // MARK: One file

    private func verify(
        file name: FileName, _ payload: Payload, _ context: StageContext
    ) throws(StageFailure) -> Payload {
        var expected = Set([digest].compactMap(\.self))
        expected.formUnion(try sidecars(of: name, context))
        guard !expected.isEmpty else {
            try nothingSaid(of: "'\(name)'")
            return payload
        }
        let algorithms = DigestAlgorithm.allCases.filter { algorithm in
            expected.contains { $0.algorithm == algorithm }
        }
        let hashing = PayloadHashing(root: payload.root, algorithms: algorithms, context: context)
        let files = try StageFailure.onIOError { () throws(IOError) in try context.files(of: payload) }
        let found = try hashing.digests(of: files, announcingSize: true).flatMap { $0 }
        let wrong = expected.subtracting(found)
        if !wrong.isEmpty {
            let lines = found.map { "found \($0)" } + wrong.map(\.description).sorted().map { "expected \($0)" }
            throw .file(
                "verify.differs", "'\(name)' is not the file that its sender speaks of: its digest differs.",
                remedy: "Send it again.", detail: lines.joined(separator: "\n"))
        }
        var payload = payload
        for digest in found { payload.digests[digest.algorithm.rawValue] = digest.hex }
        return payload
    }

    /// What files say that were dropped along: `NAME.sha256` and the like.
    private func sidecars(of name: FileName, _ context: StageContext) throws(StageFailure) -> Set<Digest> {
        guard let path = context.alongside, Folder.kind(of: path) == .folder else { return [] }
        let folder = try StageFailure.onIOError { () throws(IOError) in try context.open(path) }
        var digests: Set<Digest> = []
        for other in try StageFailure.onIOError({ () throws(IOError) in try folder.names() }).sorted() {
            guard let algorithm = DigestList.algorithm(ofListNamed: other.bytes) else { continue }
            // A list of several files is one that this file must be in.
            var isNamed = false
            let lines = try ManifestFile.forEachLine(
                of: FilePath().appending(other), in: folder, algorithm: algorithm, context
            ) {
                (line) throws(StageFailure) in
                guard line.path.map({ FilePath(bytes: $0).lastName == name }) ?? true else { return }
                isNamed = true
                // More than there are algorithms contradict each other anyway.
                if digests.count < Verification.mostDigests, let digest = line.digest { digests.insert(digest) }
            }
            if !isNamed, lines > 0 {
                throw .file(
                    "verify.unlisted", "'\(other)', which was dropped along, does not name '\(name)'.",
                    remedy: "Send both again, the list with a line for the file.")
            }
        }
        return digests
    }

    // MARK: A folder

    private func verify(folder root: FilePath, _ context: StageContext) throws(StageFailure) {
        if digest != nil {
            throw .file(
                "verify.folder", "A digest is expected of one file, but there is a folder of files.",
                remedy: "Put 'verify' before 'unpack' to compare the archive itself.")
        }
        let tree = try StageFailure.onIOError { () throws(IOError) in try FileTree.list(try context.open(root)) }
        if let bag = try BagReading.find(in: tree, root, context) { return try bag.verify() }
        if isBag { throw Self.noBag(context) }
        var verification = Verification(tree)
        var lists: Set<[UInt8]> = []
        for file in tree.files where isList(file) {
            // One that says nothing is a file like any other.
            if try read(file, root, &verification, context) { lists.insert(file.bytes) }
        }
        guard !lists.isEmpty else { return try nothingSaid(of: "'\(context.drop.name)'") }
        if extra == .fail {
            let unlisted = verification.files.keys.filter { !lists.contains($0) && !verification.isListed($0) }
            verification.extra = Set(unlisted).union((tree.links + tree.specials).map(\.bytes))
        }
        try verification.compare(below: root, context)
        let list = lists.count == 1 ? "its list '\(EscapedText.of(lists.first ?? []))'" : "its \(lists.count) lists"
        if let failure = verification.failure(of: "'\(context.drop.name)'", by: list) { throw failure }
    }

    private func isList(_ file: TreeFile) -> Bool {
        guard let name = file.relative.lastName else { return false }
        if !manifests.isEmpty { return manifests.contains { $0.matches(name) } }
        return DigestList.algorithm(ofListNamed: name.bytes) != nil
    }

    /// Takes in one list; false where it has no line.
    private func read(
        _ file: TreeFile, _ root: FilePath, _ verification: inout Verification, _ context: StageContext
    ) throws(StageFailure) -> Bool {
        let name = file.relative.lastName?.bytes ?? []
        let folder = file.relative.removingLastComponent()
        let lines = try ManifestFile.forEachLine(
            of: file.relative, in: try StageFailure.onIOError { () throws(IOError) in try context.open(root) },
            algorithm: DigestList.algorithm(ofListNamed: name), context
        ) { (line) throws(StageFailure) in
            // `a.bin.md5` may hold the digest of `a.bin` alone.
            let listed = line.path ?? name.lastIndex(of: UInt8(ascii: ".")).map { Array(name[..<$0]) } ?? []
            guard let path = Verification.path(listed, in: folder) else {
                throw .file(
                    "verify.list",
                    "The list '\(file.relative.text)' names '\(EscapedText.of(listed))', which leads "
                        + "out of its folder.", remedy: "Write paths in it from its own folder on, and send it again.")
            }
            if let digest = line.digest { verification.expect(digest, of: path) }
        }
        return lines > 0
    }

    private static func noBag(_ context: StageContext) -> StageFailure {
        .file(
            "verify.bag", "'\(context.drop.name)' is no BagIt bag, and only bags are taken here.",
            remedy: "Send a folder or an archive with 'bagit.txt', 'data' and a manifest at its top.")
    }

    private func nothingSaid(of what: String) throws(StageFailure) {
        if !require { return }
        throw .file(
            "verify.nothing", "Nothing says what \(what) is to be like, and only what can be compared is taken here.",
            remedy: "Send it with a list of digests (SHA256SUMS, NAME.sha256, …).")
    }
}

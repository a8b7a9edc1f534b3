import Digests
import Files
import Glibc
package import PipelineKit
import SystemPackage

/// Compares the payload with what is said of it: lists of digests in it, a file that was dropped along, a BagIt bag's
/// own manifests, or a digest that the options name.
package struct VerifyStage: OwnStage {
    private static let digest = StageOption<Digest?>(
        "digest", "the expected digest of a single file", takes: "ALGORITHM:HEX", default: .some(nil), shown: "",
        schema: .form(
            "^("
                + (DigestAlgorithm.allCases + (1..<64).map { .blake2b(size: $0) })
                .map { "\($0.rawValue):[0-9A-Fa-f]{\($0.size * 2)}" }.joined(separator: "|") + ")$")
    ) { (node, _) throws(OptionProblem) in
        let text = try node.string()
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let algorithm = DigestAlgorithm(rawValue: String(parts[0])),
            let digest = Digest(algorithm, hex: parts[1].utf8)
        else { throw node.problem("'\(text)' is not a digest; write one such as sha256:e3b0c442… in full") }
        return digest
    }
    private static let manifest = StageOption<[Glob]>.globs(
        "manifest", "patterns of the payload's digest lists", shown: "*SUMS, *.md5, *.sha256, *.sfv, …")
    private static let extra = StageOption<Extra>.choice(
        "extra", "what happens to files that no list mentions", default: .fail)
    private static let require = StageOption<Bool>.flag(
        "require", "whether a payload without any list or digest fails", default: true)

    private static let bag = StageOption<Bool>.flag(
        "bag", "whether to accept only BagIt bags", default: false)

    private enum Extra: String, CaseIterable, Sendable { case fail, allow }

    package static let descriptor = StageDescriptor(
        kind: "verify",
        summary:
            "Compares the payload with the digest lists in it (SHA256SUMS, *.md5, *.sfv, a BagIt bag), with a sidecar "
            + "NAME.sha256, or with a digest.",
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

    package func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
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
    ) throws(Failure) -> Payload {
        var expected = Set([digest].compactMap(\.self))
        var unread: [UnreadList] = []
        expected.formUnion(try sidecars(of: name, &unread, context))
        guard !expected.isEmpty else {
            try nothingSaid(of: "'\(name)'", unread, context)
            return payload
        }
        UnreadList.note(unread, context)
        let hashing = PayloadHashing(root: payload.root, algorithms: expected.algorithms, context: context)
        let files = try Failure.onIOError { () throws(IOError) in try context.files(of: payload) }
        let found = try hashing.digests(of: files, announcingSize: true).flatMap { $0 }
        let wrong = expected.subtracting(found)
        if !wrong.isEmpty {
            let lines = found.map { "found \($0)" } + wrong.map(\.description).sorted().map { "expected \($0)" }
            throw .file(
                "verify.differs", "'\(name)' does not match its expected digest.",
                remedy: "Send it again.", detail: lines.joined(separator: "\n"))
        }
        var payload = payload
        for digest in found { payload.digests[digest.algorithm.rawValue] = digest.hex }
        return payload
    }

    /// What files say that were dropped along: `NAME.sha256` and the like.
    private func sidecars(
        of name: FileName, _ unread: inout [UnreadList], _ context: StageContext
    ) throws(Failure) -> Set<Digest> {
        let path = context.job.sidecarFolder
        guard Folder.kind(of: path) == .folder else { return [] }
        let folder = try Failure.onIOError { () throws(IOError) in try context.open(path) }
        var digests: Set<Digest> = []
        for other in try Failure.onIOError({ () throws(IOError) in try folder.names() }).sorted() {
            let kind = DigestList.kind(ofName: other.bytes)
            if kind == .foreign { unread.append(UnreadList(path: other.bytes)) }
            if [.foreign, .none].contains(kind) { continue }
            let before = digests
            // A list of several files is one that this file must be in.
            var isNamed = false
            let lines: Int
            do throws(Failure) {
                lines = try ManifestFile.forEachLine(
                    of: FilePath().appending(other), in: folder,
                    algorithm: DigestList.algorithm(ofListNamed: other.bytes), context
                ) { (line) throws(Failure) in
                    guard line.path.map({ FilePath(bytes: $0).lastName == name }) ?? true else { return }
                    isNamed = true
                    // More than there are algorithms contradict each other anyway.
                    if digests.count < Verification.mostDigests, let digest = line.digest { digests.insert(digest) }
                }
            } catch {
                guard kind != .list, error.code == ManifestFile.unreadable else { throw error }
                digests = before
                if kind == .perhaps { unread.append(UnreadList(path: other.bytes, reason: error.summary)) }
                continue
            }
            if !isNamed, lines > 0 {
                throw .file(
                    "verify.unlisted", "'\(other)', which came with it, does not list '\(name)'.",
                    remedy: "Send both again, the list with a line for the file.")
            }
        }
        return digests
    }

    // MARK: A folder

    private func verify(folder root: FilePath, _ context: StageContext) throws(Failure) {
        if digest != nil {
            throw .file(
                "verify.folder", "'digest' applies to a single file, but the payload is a folder.",
                remedy: "Put 'verify' before 'unpack' to check the archive itself.")
        }
        let tree = try Failure.onIOError { () throws(IOError) in try FileTree.list(try context.open(root)) }
        if let bag = try BagReading.find(in: tree, root, context) { return try bag.verify() }
        if isBag { throw Self.noBag(context) }
        var verification = Verification(tree)
        let lists = try FolderLists(in: tree, root, called: manifests, &verification, context)
        guard !lists.read.isEmpty else {
            return try nothingSaid(of: "'\(context.job.drop.name)'", lists.unread, context)
        }
        UnreadList.note(lists.unread, context)
        if extra == .fail {
            let unlisted = verification.files.keys.filter { !lists.isOwn($0) && !verification.isListed($0) }
            verification.extra = Set(unlisted).union((tree.links + tree.specials).map(\.bytes))
        }
        try verification.compare(below: root, context)
        let list =
            lists.read.count == 1
            ? "its list '\(EscapedText.of(lists.read.first ?? []))' says" : "its \(lists.read.count) lists say"
        if let failure = verification.failure(of: "'\(context.job.drop.name)'", by: list) { throw failure }
    }

    private static func noBag(_ context: StageContext) -> Failure {
        .file(
            "verify.bag", "'\(context.job.drop.name)' is not a BagIt bag, and only bags are accepted here.",
            remedy: "Send a folder or an archive with 'bagit.txt', 'data' and a manifest at its top.")
    }

    private func nothingSaid(
        of what: String, _ unread: [UnreadList], _ context: StageContext
    ) throws(Failure) {
        UnreadList.note(unread, context)
        if !require { return }
        throw .file(
            "verify.nothing",
            unread.isEmpty
                ? "There is no digest or list to check \(what) against."
                : "There is no readable list to check \(what) against: \(unread[0].fact).",
            remedy: "Send it with a list of digests (SHA256SUMS, NAME.sha256, …).",
            detail: unread.map(\.fact).joined(separator: "\n"))
    }
}

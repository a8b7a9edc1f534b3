import Digests
import Files
import Glibc
import PipelineKit
import SystemPackage

/// A BagIt bag (RFC 8493; drafts from 0.93 on) in a payload: its own texts, and whether its files are what they say.
struct BagReading {
    /// The bag's folder, from the payload's root on; empty where that is the bag itself.
    let base: FilePath
    let root: FilePath
    let context: StageContext
    let tree: FileTree
    let isVersion1: Bool
    let encoding: BagTexts.Encoding

    /// The bag that a folder is, or holds as its only entry; nil where it is none.
    static func find(
        in tree: FileTree, _ root: FilePath, _ context: StageContext
    ) throws(Failure) -> BagReading? {
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
    ) throws(Failure) {
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
    func verify() throws(Failure) {
        let own = tree.files.filter { $0.relative.starts(with: base) }
        let top = own.filter { $0.relative.removingLastComponent() == base }
            .compactMap { $0.relative.lastComponent?.string }
        guard tree.folders.contains(base.appending("data")) else {
            throw Self.invalid("it has no folder 'data'", "Put the files into a folder 'data' of the bag.")
        }
        var verification = Verification(tree)
        let lists = try manifests("manifest-", top)
        guard !lists.isEmpty else {
            let others = top.filter { $0.hasPrefix("manifest-") }.sorted()
            throw Self.invalid(
                "it has no manifest with a known algorithm (manifest-sha256.txt)"
                    + (others.isEmpty ? "" : ", only \(EscapedText.of(others.joined(separator: ", ")))"),
                "Create the bag with its manifests.")
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
        let isHoley = try checkFetched(top, &verification)
        // Each file that is wrong is named before the sum that is wrong because of it.
        try verification.compare(below: root, context)
        let failure = verification.failure(
            of: "The bag '\(context.job.drop.name)'", by: "its manifests say",
            remedy: isHoley
                ? "Dropmill fetches nothing: fetch what 'fetch.txt' lists, and send the complete bag."
                : "Send it again complete, or recreate the bag.")
        if let failure { throw failure }
        try checkInfo(top, data)
    }

    /// The most bytes of bagit.txt and of bag-info.txt.
    private static let mostBytes = 1 << 20

    static func text(
        of path: FilePath, _ root: FilePath, _ context: StageContext
    ) throws(Failure) -> [UInt8] {
        do throws(IOError) {
            return try SmallFile.read(
                try context.open(root).open(path, O_RDONLY | O_NONBLOCK), atMost: mostBytes)
        } catch {
            guard error.errno == .fileTooLarge else { throw Failure(inStage: error) }
            throw invalid("'\(path.lastName?.text ?? "")' is too large", "Split the bag.")
        }
    }

    static func invalid(_ fact: String, _ remedy: Sentence) -> Failure {
        .file("bag.invalid", "The BagIt bag is not valid: \(fact).", remedy: remedy)
    }
}

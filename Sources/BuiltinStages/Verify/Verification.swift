import Digests
import Files
import PipelineKit
import SystemPackage

/// What the files of a folder are to have, from whatever lists there are, and what they turn out to have.
struct Verification {
    /// Everything there is, by path bytes.
    let files: [[UInt8]: TreeFile]
    /// The digests that a file is to have.
    private(set) var expected: [[UInt8]: Set<Digest>] = [:]
    /// Files that are listed and not there: the first thousand.
    private(set) var missing: Set<[UInt8]> = []
    private var missesMore = false
    /// Files that are there and not listed.
    var extra: Set<[UInt8]> = []
    /// Files that have another digest.
    private(set) var differing: Set<[UInt8]> = []

    init(_ tree: FileTree) {
        files = Dictionary(tree.files.map { ($0.bytes, $0) }) { first, _ in first }
    }

    var isEmpty: Bool { expected.isEmpty && missing.isEmpty }

    /// The most digests that are kept of a file: of more than there are algorithms two contradict each other, and it
    /// fails whatever the others are.
    static let mostDigests = DigestAlgorithm.count + 1

    /// Adds what one list says of a file; nil: that it is there. Lists are as long as their senders like; what is kept
    /// of them is not.
    mutating func expect(_ digest: Digest?, of path: [UInt8]) {
        if files[path] != nil {
            guard let digest, expected[path]?.count ?? 0 < Self.mostDigests else { return }
            expected[path, default: []].insert(digest)
        } else if missing.count < Self.mostNames {
            missing.insert(path)
        } else if !missing.contains(path) {
            missesMore = true
        }
    }

    /// Whether a list named the file, be it there or not.
    func isListed(_ path: [UInt8]) -> Bool { expected[path] != nil || missing.contains(path) }

    /// Compares every file that is listed, each in one pass however many digests it is to have.
    mutating func compare(below root: FilePath, _ context: StageContext) throws(Failure) {
        let groups = Dictionary(grouping: expected.keys) { expected[$0]?.algorithms ?? [] }
        for (algorithms, paths) in groups {
            let files = paths.sorted { $0.lexicographicallyPrecedes($1) }.compactMap { self.files[$0] }
            let hashing = PayloadHashing(root: root, algorithms: algorithms, context: context)
            for (file, digests) in zip(files, try hashing.digests(of: files)) where Set(digests) != expected[file.bytes]
            {
                differing.insert(file.bytes)
            }
        }
    }

    /// The path that a list gives, from its own folder on; nil where it leads out of that folder or names none.
    static func path(_ listed: [UInt8], in folder: FilePath) -> [UInt8]? {
        guard !listed.isEmpty, !listed.contains(0) else { return nil }
        let path = FilePath(bytes: listed)
        guard !path.isAbsolute, !path.components.contains(where: { $0.kind == .parentDirectory }) else { return nil }
        let normal = folder.pushing(path).lexicallyNormalized()
        return normal.isEmpty ? nil : normal.bytes
    }

    /// The most files that are named in a failure.
    private static let mostNames = 1000

    /// The failure that follows; nil where all is as it should be. `what`: whose files these are; `list`: what says
    /// otherwise, with the verb.
    func failure(
        of what: Sentence, by list: String, remedy: Sentence = "Send it again complete, or correct the list."
    ) -> Failure? {
        let kinds = [("differs", differing), ("missing", missing), ("not listed", extra)].filter { !$0.1.isEmpty }
        if kinds.isEmpty { return nil }
        let counts = kinds.map { word, paths in
            switch word {
            case "differs": "\(paths.count) \(paths.count == 1 ? "file differs" : "files differ")"
            case "missing" where missesMore: "more than \(paths.count) are missing"
            default: "\(paths.count) \(paths.count == 1 ? "is" : "are") \(word)"
            }
        }
        var lines = kinds.flatMap { word, paths in
            paths.sorted { $0.lexicographicallyPrecedes($1) }.map { "\(word): \(EscapedText.of($0))" }
        }
        if lines.count > Self.mostNames {
            lines = lines.prefix(Self.mostNames) + ["and \(lines.count - Self.mostNames) more"]
        }
        return .file(
            "verify.differs", "\(what) does not match what \(list): \(counts.joined(separator: ", ")).",
            remedy: remedy, detail: lines.joined(separator: "\n"))
    }
}

import Digests
import Files
import PipelineKit
import SystemPackage

extension BagReading {
    /// The bag's manifests whose algorithm is known, by name.
    func manifests(
        _ prefix: String, _ top: [String]
    ) throws(Failure) -> [(algorithm: DigestAlgorithm, name: String)] {
        top.sorted().compactMap { name in
            guard name.hasPrefix(prefix), name.hasSuffix(".txt") else { return nil }
            let algorithm = BagTexts.algorithm(String(name.dropFirst(prefix.count).dropLast(4)))
            if algorithm == nil {
                context.work.notes.add("\(EscapedText.of(name)) is not checked: its algorithm is unknown")
            }
            return algorithm.map { ($0, name) }
        }
    }

    /// Takes in one manifest; returns the paths of files that it names.
    func read(
        _ name: String, _ algorithm: DigestAlgorithm, into verification: inout Verification, _ context: StageContext,
        mayName: (FilePath) -> Bool
    ) throws(Failure) -> Set<[UInt8]> {
        var paths: Set<[UInt8]> = []
        var (marked, dotted, twice) = (0, 0, 0)
        try ManifestFile.forEachLine(
            of: base.appending(name), in: try Failure.onIOError { () throws(IOError) in try context.open(root) },
            algorithm: algorithm, form: .bagIt, encoding: encoding, context,
            failing: { malformed($0, name, "digest and path") }
        ) { (line) throws(Failure) in
            guard let digest = line.digest, let listed = line.path else { return }
            guard let inner = Verification.path(listed, in: FilePath()).map({ FilePath(bytes: $0) }), mayName(inner)
            else {
                throw Self.invalid(
                    "\(name) names '\(EscapedText.of(listed))', which it must not list", "Recreate the bag.")
            }
            let path = base.pushing(known(inner, listed, in: verification.files)).bytes
            verification.expect(digest, of: path)
            // What is not there fails as missing, however often it is named.
            guard verification.files[path] != nil else { return }
            if line.isMarked { marked += 1 }
            if listed.starts(with: "./".utf8) { dotted += 1 }
            if paths.insert(path).inserted { return }
            guard !isVersion1 else {
                throw Self.invalid("\(name) lists '\(EscapedText.of(listed))' twice", "Recreate the bag.")
            }
            twice += 1
        }
        // What the specification warns of, and does not forbid.
        if marked > 0 { context.work.notes.add("\(name): a '*' before \(marked) of the paths, as md5sum writes it") }
        if dotted > 0 { context.work.notes.add("\(name): \(dotted) of the paths begin with './'") }
        if twice > 0 { context.work.notes.add("\(name): repeated lines: \(twice)") }
        return paths
    }

    /// What a problem with a list of the bag is told as; `line`: what each line is to be.
    func malformed(_ problem: DigestListReader.Problem, _ name: String, _ line: String) -> Failure {
        switch problem {
        case .strange(let number): Self.invalid("line \(number) of \(name) is not a valid \(line)", "Recreate the bag.")
        case .tooManyLines(let most): Self.invalid("\(name) has more than \(most) lines", "Split the bag.")
        case .unreadable(let errno):
            Failure(inStage: IOError("read", root.pushing(base).appending(name), errno))
        }
    }

    /// A path with `%0A`, `%0D` and `%25` decoded, or as it is where only such a file is there: not all tools encode
    /// the percent sign.
    func known(_ path: FilePath, _ listed: [UInt8], in files: [[UInt8]: TreeFile]) -> FilePath {
        guard listed.contains(UInt8(ascii: "%")) else { return path }
        let decoded = FilePath(bytes: BagPath.decoded(path.bytes))
        let isPlain = files[base.pushing(decoded).bytes] == nil && files[base.pushing(path).bytes] != nil
        return isPlain ? path : decoded
    }
}

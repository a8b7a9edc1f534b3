import Digests
import Files
import Glibc
import PipelineKit
import SystemPackage

/// The lists of digests in a folder, by path bytes.
struct FolderLists {
    /// Those that said something.
    private(set) var read: Set<[UInt8]> = []
    /// Signatures that lie beside one of them.
    private var signatures: Set<[UInt8]> = []
    private(set) var unread: [UnreadList] = []
    /// More than any signature has, and less than is worth hiding.
    private static let largestSignature: Int64 = 64 << 10

    /// Whether the file is one that no list needs to name.
    func isOwn(_ path: [UInt8]) -> Bool { read.contains(path) || signatures.contains(path) }

    /// Takes in what each list says. `patterns`: which files are lists; none: those whose names say so.
    init(
        in tree: FileTree, _ root: FilePath, called patterns: [Glob], _ verification: inout Verification,
        _ context: StageContext
    ) throws(Failure) {
        var beside: [[UInt8]] = []
        for file in tree.files {
            let kind = Self.kind(of: file, patterns)
            switch kind {
            case .none: continue
            case .foreign: unread.append(UnreadList(path: file.bytes))
            case .list:
                // One that says nothing is a file like any other.
                if try Self.read(file, root, &verification, context) { read.insert(file.bytes) }
            case .perhaps, .signature:
                // Nothing may stay of one that cannot be read to its end.
                let before = verification
                do throws(Failure) {
                    if try Self.read(file, root, &verification, context) {
                        read.insert(file.bytes)
                    } else {
                        beside.append(file.bytes)
                    }
                } catch {
                    guard error.code == ManifestFile.unreadable else { throw error }
                    verification = before
                    if kind == .perhaps { unread.append(UnreadList(path: file.bytes, reason: error.summary)) }
                    beside.append(file.bytes)
                }
            }
        }
        for path in beside {
            guard let dot = path.lastIndex(of: UInt8(ascii: ".")), read.contains(Array(path[..<dot])) else { continue }
            let size = try Failure.onIOError { () throws(IOError) in
                try context.open(root).open(FilePath(bytes: path), O_RDONLY | O_NONBLOCK).status().st_size
            }
            guard size <= Self.largestSignature else { continue }
            signatures.insert(path)
            context.work.notes.add("'\(EscapedText.of(path))' appears to be a signature and was not checked")
        }
    }

    private static func kind(of file: TreeFile, _ patterns: [Glob]) -> DigestList.NameKind {
        guard let name = file.relative.lastName else { return .none }
        if !patterns.isEmpty { return patterns.contains { $0.matches(name) } ? .list : .none }
        return DigestList.kind(ofName: name.bytes)
    }

    /// Takes in one list; false where it has no line.
    private static func read(
        _ file: TreeFile, _ root: FilePath, _ verification: inout Verification, _ context: StageContext
    ) throws(Failure) -> Bool {
        let name = file.relative.lastName?.bytes ?? []
        let folder = file.relative.removingLastComponent()
        let lines = try ManifestFile.forEachLine(
            of: file.relative, in: try Failure.onIOError { () throws(IOError) in try context.open(root) },
            algorithm: DigestList.algorithm(ofListNamed: name), context
        ) { (line) throws(Failure) in
            // `a.bin.md5` may hold the digest of `a.bin` alone.
            guard let listed = line.path ?? name.lastIndex(of: UInt8(ascii: ".")).map({ Array(name[..<$0]) }) else {
                throw .file(
                    ManifestFile.unreadable,
                    "The list '\(file.relative.text)' has a digest without a file name.",
                    remedy: "Create the list with file names, not through a pipe, and send it again.")
            }
            guard let path = Verification.path(listed, in: folder) else {
                throw .file(
                    ManifestFile.unreadable,
                    "The list '\(file.relative.text)' lists '\(EscapedText.of(listed))', which leads "
                        + "out of its folder.",
                    remedy: "Write its paths relative to its own folder, and send it again.")
            }
            if let digest = line.digest { verification.expect(digest, of: path) }
        }
        return lines > 0
    }
}

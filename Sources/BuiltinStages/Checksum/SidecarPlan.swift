import Digests
import Files
import PipelineKit
import SystemPackage

/// Which sidecars the files of a payload need. One that an earlier run of the same stage left is known by its content;
/// one that came with the payload is a file like any other, and ours steps aside for it.
struct SidecarPlan {
    private let algorithms: [DigestAlgorithm]
    private let format: ChecksumFormat
    /// Every file, folder and link of the payload, by path bytes.
    private var taken: Set<[UInt8]>

    init(_ tree: FileTree, algorithms: [DigestAlgorithm], format: ChecksumFormat) {
        self.algorithms = algorithms
        self.format = format
        taken = Set(tree.files.map(\.bytes)).union(tree.folders.map(\.bytes)).union(tree.links.map(\.bytes))
    }

    /// The files that may be sidecars of others by their names.
    func candidates(_ files: [TreeFile]) -> [TreeFile] {
        let endings = algorithms.map { Array(".\(format.ending($0))".utf8) }
        return files.filter { file in
            endings.contains { file.bytes.count > $0.count && file.bytes.suffix($0.count).elementsEqual($0) }
        }
    }

    /// The sidecars that are still to be written, and those that are there.
    mutating func sidecars(
        of file: TreeFile, _ digests: [Digest], in root: borrowing Folder
    ) throws(IOError) -> (missing: [(path: FilePath, contents: [UInt8])], ours: [FilePath]) {
        guard let name = file.relative.lastName else { return ([], []) }
        let folder = file.relative.removingLastComponent()
        var missing: [(FilePath, [UInt8])] = []
        var ours: [FilePath] = []
        for digest in digests {
            let sidecar = format.sidecar(digest)
            let contents = sidecar.contents(for: name)
            let first = name.appending(sidecar.suffix, unique: digest.hex)
            var candidate = first
            var number = 2
            while true {
                let path = folder.appending(candidate)
                if taken.insert(path.bytes).inserted {
                    missing.append((path, contents))
                    break
                }
                if try root.kind(of: path) == .regular, try SmallFile.holds(path, in: root, contents) {
                    ours.append(path)
                    break
                }
                candidate = first.numbered(number)
                number += 1
            }
        }
        return (missing, ours)
    }
}

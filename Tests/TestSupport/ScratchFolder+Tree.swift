package import Files
import PipelineKit
import SystemPackage
package import TestTools

extension ScratchFolder {
    /// Everything below a folder as sorted lines: files by their escaped path, folders with `/` behind it, links as
    /// `NAME -> TARGET`.
    package func tree(_ relative: String = "") throws(IOError) -> [String] {
        let root = relative.isEmpty ? path : path(relative)
        let tree = try FileTree.list(root)
        var lines = tree.files.map { EscapedText.of($0.bytes) } + tree.folders.map { $0.text + "/" }
        for link in tree.links { lines.append(link.text + " -> " + Self.target(of: root.pushing(link))) }
        return lines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

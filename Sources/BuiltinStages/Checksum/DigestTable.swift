import Digests
import Files
import PipelineKit
import SystemPackage

/// The digests of a payload's files.
struct DigestTable {
    let files: [TreeFile]
    /// Of each file, one for each algorithm.
    let digests: [[Digest]]

    /// The text of a manifest of all files but some; empty where there is no file to list.
    func text(of manifest: ManifestPlan.Wanted, without names: Set<FileName>) -> [UInt8] {
        let excluded = Set(names.map(\.bytes))
        let listed = zip(files, digests).filter { !excluded.contains($0.0.bytes) }
        guard !listed.isEmpty else { return [] }
        return manifest.format.list(
            listed.lazy.map { file, digests in
                (file: file, digests: digests.filter { manifest.algorithms.contains($0.algorithm) })
            })
    }
}

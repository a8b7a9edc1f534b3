import Digests
import Files
import PipelineKit
import SystemPackage

/// Which manifests a payload needs, and under which names. One that an earlier run of the same stage left is known by
/// its content and left as it is; one that came with the payload is a file like any other, and ours steps aside for it.
struct ManifestPlan {
    /// A manifest as the options have it.
    struct Wanted {
        let name: FileName
        let algorithms: [DigestAlgorithm]
        let format: ChecksumFormat
    }

    /// A manifest that is to be written.
    struct Manifest {
        let name: FileName
        let contents: [UInt8]

    }

    private(set) var missing: [Manifest] = []

    /// A plan for some manifests. `others`: the folders and links of the payload, whose names are taken too.
    init(_ wanted: [Wanted], table: DigestTable, others: [FilePath], in root: borrowing Folder) throws(Failure) {
        // Only what lies at the top can be in a manifest's way.
        let files = Set(table.files.lazy.map(\.bytes).filter { !$0.contains(UInt8(ascii: "/")) })
        let taken = Set(others.lazy.map(\.bytes).filter { !$0.contains(UInt8(ascii: "/")) })
        let candidates = wanted.map { Self.candidates($0.name, files: files, others: taken) }
        let ours = try Self.ours(wanted, candidates.map(\.last), table, root)
        for (index, manifest) in wanted.enumerated() {
            if let last = candidates[index].last, ours.contains(last) { continue }
            let contents = table.text(of: manifest, without: ours)
            // sha256sum -c takes a list without a line for a broken one.
            if contents.isEmpty { continue }
            missing.append(Manifest(name: candidates[index].free, contents: contents))
        }
    }

    /// Of the names `SHA256SUMS`, `SHA256SUMS.2`, …: the last one that is a file's, and the first one that is free.
    private static func candidates(
        _ name: FileName, files: Set<[UInt8]>, others: Set<[UInt8]>
    ) -> (last: FileName?, free: FileName) {
        var last: FileName?
        var free = name
        var number = 2
        while true {
            if files.contains(free.bytes) {
                last = free
            } else if !others.contains(free.bytes) {
                return (last, free)
            }
            free = name.numbered(number)
            number += 1
        }
    }

    /// Those files that hold exactly what we would write: lists of all files but these lists. One that does not is the
    /// payload's own, and so is listed by the others: hence until nothing changes any more.
    private static func ours(
        _ wanted: [Wanted], _ lasts: [FileName?], _ table: DigestTable, _ root: borrowing Folder
    ) throws(Failure) -> Set<FileName> {
        var ours = Set(lasts.compactMap(\.self))
        while true {
            var foreign: FileName?
            for (index, name) in lasts.enumerated() {
                guard let name, ours.contains(name) else { continue }
                let expected = table.text(of: wanted[index], without: ours)
                let isSame = try Failure.onIOError { () throws(IOError) in
                    // An empty list is never written, so an empty file is the payload's own.
                    expected.isEmpty ? false : try SmallFile.holds(FilePath().appending(name), in: root, expected)
                }
                if !isSame { foreign = name }
            }
            guard let foreign else { return ours }
            ours.remove(foreign)
        }
    }
}

import Digests
import Glibc
import PipelineKit
import SystemPackage

/// The digests of a payload's files.
struct DigestTable {
    let files: [TreeFile]
    /// Of each file, one for each algorithm.
    let digests: [[Digest]]

    /// The lines of `sha256sum` for all files but some, by path bytes.
    func manifest(algorithm index: Int, without names: Set<FileName>) -> [UInt8] {
        var lines: [UInt8] = []
        let excluded = Set(names.map(\.bytes))
        for (file, digests) in zip(files, digests) where !excluded.contains(file.bytes) {
            lines += ChecksumLine.bytes(digest: digests[index].hex, path: file.bytes)
        }
        return lines
    }
}

/// Which manifests a payload needs, and under which names. One that an earlier run of the same stage left is known by
/// its content and left as it is; one that came with the payload is a file like any other, and ours steps aside for it.
struct ManifestPlan {
    /// A manifest that is to be written.
    struct Manifest {
        let name: FileName
        let contents: [UInt8]

        /// Writes it under a hidden name and then renames it, so that half of it is never there.
        func write(to root: FilePath, by draft: FilePath) throws(IOError) {
            do throws(IOError) {
                let file = try OpenFile.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o666)
                try file.write(contents)
                try file.close()
                let target = root.appending(name)
                let renamed = draft.withPlatformString { from in target.withPlatformString { rename(from, $0) } }
                guard renamed == 0 else { throw IOError("rename", draft, .last) }
            } catch {
                // The first error is the one to tell.
                draft.withPlatformString { _ = unlink($0) }
                throw error
            }
        }
    }

    private(set) var missing: [Manifest] = []

    /// A plan for one manifest per algorithm, in their order. `others`: the folders and links of the payload, whose
    /// names are taken too.
    init(names: [FileName], table: DigestTable, others: [FilePath], root: FilePath) throws(StageFailure) {
        let files = Set(table.files.map(\.bytes))
        let candidates = names.map { Self.candidates($0, files: files, others: Set(others.map(\.bytes))) }
        let ours = try Self.ours(candidates.map(\.last), table, root)
        for index in names.indices {
            if let last = candidates[index].last, ours.contains(last) { continue }
            let contents = table.manifest(algorithm: index, without: ours)
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
    private static func ours(_ lasts: [FileName?], _ table: DigestTable, _ root: FilePath) throws(StageFailure) -> Set<
        FileName
    > {
        var ours = Set(lasts.compactMap(\.self))
        while true {
            var foreign: FileName?
            for (index, name) in lasts.enumerated() {
                guard let name, ours.contains(name) else { continue }
                let expected = table.manifest(algorithm: index, without: ours)
                let isSame = try StageFailure.onIOError { () throws(IOError) in
                    // An empty list is never written, so an empty file is the payload's own.
                    expected.isEmpty ? false : try holds(root.appending(name), expected)
                }
                if !isSame { foreign = name }
            }
            guard let foreign else { return ours }
            ours.remove(foreign)
        }
    }

    /// Whether the file has exactly this content.
    private static func holds(_ path: FilePath, _ expected: [UInt8]) throws(IOError) -> Bool {
        let file = try OpenFile.open(path, O_RDONLY | O_NOFOLLOW)
        guard try file.status().st_size == expected.count else { return false }
        var failure: IOError?
        let found = [UInt8](unsafeUninitializedCapacity: expected.count) { buffer, count in
            do throws(IOError) {
                while count < expected.count {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                    let read = try file.read(into: rest)
                    if read == 0 { break }
                    count += read
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return found == expected
    }
}

import Glibc

/// A compressed stream that is one file, and no archive.
package struct LoneFile: ~Copyable {
    let stream: CompressedStream

    /// Writes the file. `mode` and `modified` are those of the compressed file, as gunzip(1) keeps them.
    package consuming func extract(
        as name: [UInt8], in folder: Int32, mode: UInt32, modified: (seconds: Int, nanoseconds: Int),
        progress: ArchiveExtractor.Progress
    ) throws(ArchiveError) {
        let path = try EntryPath(name)
        guard let component = path.name, path.folders.isEmpty else { throw .unsafe(name, "is no name for a file") }
        try progress(0, 1)
        var file = try OutputFile.create(component, in: folder, for: name)
        var length: Int64 = 0
        while let block = try stream.next() {
            try file.write(block, at: length)
            length += Int64(block.count)
            try progress(Int64(block.count), 0)
        }
        try file.finish(
            length: length, mode: mode, modified: timespec(tv_sec: modified.seconds, tv_nsec: modified.nanoseconds))
    }
}

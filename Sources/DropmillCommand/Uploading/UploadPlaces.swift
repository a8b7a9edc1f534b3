import Files
import PipelineKit
import Synchronization
import SystemPackage

/// The inboxes into which something was on its way, on record in the state folder: what a kill left there is found
/// also where the pipelines have other inboxes by the next start.
final class UploadPlaces: Sendable {
    private static let name: FilePath = "uploads", draft: FilePath = ".uploads.new"
    /// The most bytes that are read of it.
    private static let largest = 1 << 20

    private let folder: FilePath
    private let known: Mutex<Set<FilePath>>

    /// `folder`: the state folder.
    init(in folder: FilePath) {
        self.folder = folder
        known = Mutex(Self.read(folder.pushing(Self.name)))
    }

    var all: Set<FilePath> { known.withLock { $0 } }

    /// Something is about to come into an inbox. Throws where that cannot be put on record.
    func note(_ inbox: FilePath) throws(IOError) {
        try change { $0.insert(inbox.absolute.lexicallyNormalized()).inserted }
    }

    /// Nothing is left there, and nothing comes any more.
    func forget(_ inbox: FilePath) throws(IOError) { try change { $0.remove(inbox) != nil } }

    private func change(_ change: (inout Set<FilePath>) -> Bool) throws(IOError) {
        try known.withLock { known in
            Result { () throws(IOError) in
                var changed = known
                guard change(&changed) else { return }
                try write(changed)
                known = changed
            }
        }.get()
    }

    private func write(_ places: Set<FilePath>) throws(IOError) {
        let open = try Folder.open(folder)
        try open.remove(Self.draft)
        let paths: [[UInt8]] = places.map { Array($0.bytes) }
        let bytes = paths.sorted { $0.lexicographicallyPrecedes($1) }.flatMap { (path: [UInt8]) -> [UInt8] in path + [0]
        }
        try SmallFile.write(bytes, to: Self.name, in: open, by: Self.draft, mode: 0o600)
        try open.file.sync()
    }

    private static func read(_ path: FilePath) -> Set<FilePath> {
        do throws(IOError) {
            return Set(try SmallFile.read(path, atMost: largest).split(separator: 0).map { FilePath(bytes: Array($0)) })
        } catch {
            return []
        }
    }
}

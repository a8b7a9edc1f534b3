import Glibc
import PipelineKit
import SystemPackage

/// Builds a new payload from the files of another, in a clean scratch folder: by hard links, so that no data is copied
/// and a run that is broken off changes nothing. Files of the drop itself are copied, since it goes to processed beside
/// what was made of it, and no change to one may show in the other.
struct Rebuilding {
    private let source: FilePath
    private let target: FilePath
    private let context: StageContext
    private let copies: Bool
    /// Folders that are there.
    private var folders: Set<FilePath> = []

    /// A new payload of the stage's own. `isDrop`: whether it is the drop still, and so takes the original's place.
    init(_ payload: Payload, isDrop: Bool = false, in context: StageContext) throws(StageFailure) {
        self.context = context
        copies = payload.isDrop && !isDrop
        source = payload.root
        target = try context.makeScratch()
    }

    /// The folder that is being filled.
    var root: FilePath { target }

    /// Puts a file of the payload under another path, which must be free. Folders on the way are made.
    mutating func put(_ file: FilePath, as path: FilePath) throws(StageFailure) {
        try context.checkCancelled()
        try makeFolder(path.removingLastComponent())
        do throws(IOError) {
            if copies {
                try Transfer.copy(source.pushing(file), to: target.pushing(path)) {
                    context.cancellation.isCancelled
                }
            } else {
                try Self.link(source.pushing(file), as: target.pushing(path))
            }
        } catch {
            try context.checkCancelled()
            throw StageFailure(building: error)
        }
        context.progress.add(entries: 1)
    }

    /// Makes a folder and those above it.
    mutating func makeFolder(_ path: FilePath) throws(StageFailure) {
        guard !path.isEmpty, folders.insert(path).inserted else { return }
        do throws(IOError) {
            try Folder.make(target.pushing(path))
        } catch {
            throw StageFailure(building: error)
        }
    }

    /// Gives folders that were made the mode and times of the payload's folders of the same path, once all is in them.
    /// `folders`: as they are in a tree, each before what it holds.
    func dress(_ folders: [FilePath], below prefix: FilePath = "") throws(StageFailure) {
        do throws(IOError) {
            for folder in folders.reversed() where self.folders.contains(prefix.pushing(folder)) {
                try Transfer.copyFolderMetadata(source.pushing(folder), to: target.pushing(prefix).pushing(folder))
            }
        } catch {
            throw StageFailure(inStage: error)
        }
    }

    /// A second name for a file or symbolic link, or a copy where the file system has none or allows no more of them.
    static func link(_ source: FilePath, as target: FilePath) throws(IOError) {
        let made = source.withPlatformString { from in
            target.withPlatformString { linkat(AT_FDCWD, from, AT_FDCWD, $0, 0) }
        }
        if made == 0 { return }
        switch Errno.last {
        case .notPermitted, .tooManyLinks, .notSupported, .noFunction, .improperLink:
            try Transfer.copy(source, to: target)
        case let error: throw IOError("link", source, error)
        }
    }
}

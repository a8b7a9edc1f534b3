import Files
import Glibc
import PipelineKit
import SystemPackage

/// Builds a new payload from the files of another, in a clean scratch folder: by hard links, so that no data is copied
/// and a run that is broken off changes nothing. Files of the drop itself are copied, since it goes to processed beside
/// what was made of it, and no change to one may show in the other.
struct Rebuilding: ~Copyable {
    private let source: Folder
    private let target: Folder
    private let context: StageContext
    private let copies: Bool
    private let isFolder: Bool
    /// The folders that were made, in that order, each with the one of the payload that it is made after.
    private var folders: [(path: FilePath, model: FilePath)] = []
    private var known: Set<FilePath> = []

    /// A new payload of the stage's own. `isDrop`: whether it is the drop still, and so takes the original's place.
    init(_ payload: Payload, isDrop: Bool = false, in context: StageContext) throws(Failure) {
        let scratch = try context.makeScratch()
        let source = try Failure.onIOError { () throws(IOError) in try context.open(payload.root) }
        let target = try Failure.onIOError { () throws(IOError) in try context.open(scratch) }
        self.source = source
        self.target = target
        self.context = context
        // A second name would let its sender change the new payload as well, and be a change of the drop itself.
        copies = payload.isDrop && (!isDrop || context.disk.isShared)
        isFolder = payload.shape == .folder
    }

    /// The folder that is being filled.
    var root: FilePath { target.path }

    /// Puts a file of the payload under another path, which must be free. Folders on the way are made.
    mutating func put(_ file: FilePath, as path: FilePath) throws(Failure) {
        try context.checkCancelled()
        try makeFolder(path.removingLastComponent(), like: file.removingLastComponent())
        do throws(IOError) {
            if copies {
                try Transfer.copy(file, in: source, to: path, in: target, isStopped: context.work.isStopped)
            } else {
                try Self.link(file, in: source, as: path, in: target)
            }
        } catch {
            try context.checkCancelled()
            throw Failure(building: error)
        }
        context.work.progress.add(entries: 1)
    }

    /// Makes a folder and those above it. `model`: the folder of the payload whose rights and times it gets in the end.
    mutating func makeFolder(_ path: FilePath, like model: FilePath) throws(Failure) {
        var missing: [(path: FilePath, model: FilePath)] = []
        var (path, model) = (path, model)
        while !path.isEmpty, known.insert(path).inserted {
            missing.append((path, model))
            if model.components.count >= path.components.count { model.removeLastComponent() }
            path.removeLastComponent()
        }
        for folder in missing.reversed() {
            do throws(IOError) {
                try target.make(folder.path)
            } catch {
                throw Failure(building: error)
            }
            folders.append(folder)
        }
    }

    /// Gives the folders the rights and times of those that they were made after: what nobody else could look into
    /// stays so. To be called once all is in them.
    func finish() throws(Failure) {
        guard isFolder else { return }
        do throws(IOError) {
            // What is put into a folder changes its time, so the deepest come first.
            for folder in folders.reversed() {
                try Transfer.copyFolderMetadata(folder.model, in: source, to: folder.path, in: target)
            }
            try Transfer.copyFolderMetadata(FilePath(), in: source, to: FilePath(), in: target)
        } catch {
            throw Failure(inStage: error)
        }
    }

    /// A second name for a file or symbolic link, or a copy where the file system has none or allows no more of them.
    static func link(
        _ source: FilePath, in folder: borrowing Folder, as target: FilePath, in other: borrowing Folder
    ) throws(IOError) {
        do throws(IOError) {
            try folder.link(source, as: target, in: other)
        } catch {
            switch error.errno {
            case .notPermitted, .tooManyLinks, .notSupported, .noFunction, .improperLink:
                try Transfer.copy(source, in: folder, to: target, in: other)
            default: throw error
            }
        }
    }
}

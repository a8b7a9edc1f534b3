public import Files
import Glibc
public import SystemPackage

/// The payload's files.
extension StageContext {
    /// The job's folder, which nobody else can enter.
    var jobFolder: FilePath { disk.scratch.removingLastComponent() }

    /// Opens a folder of the job, such as a payload's `root`: from the job's folder down, so that no link leads away.
    package func open(_ folder: FilePath) throws(IOError) -> Folder {
        var relative = folder
        guard relative.removePrefix(jobFolder) else { throw IOError("open", folder, .improperLink) }
        let job = try Folder.open(jobFolder)
        return relative.isEmpty ? job : try job.folder(relative)
    }

    /// All that belongs to a payload; of a single file nothing but the file.
    package func tree(of payload: Payload) throws(IOError) -> FileTree {
        switch payload.shape {
        case .file(let name): FileTree(files: [TreeFile(FilePath().appending(name))])
        case .folder: try FileTree.list(try open(payload.root))
        }
    }

    /// A payload's regular files, by path bytes.
    public func files(of payload: Payload) throws(IOError) -> [TreeFile] { try tree(of: payload).files }

    /// Opens a single-file payload's file for reading.
    package func open(_ name: FileName, of payload: Payload) throws(IOError) -> OpenFile {
        try open(TreeFile(FilePath().appending(name)), of: payload)
    }

    /// Opens one of a payload's files for reading.
    public func open(_ file: TreeFile, of payload: Payload) throws(IOError) -> OpenFile {
        try open(file, below: payload.root)
    }

    /// Makes a new file, in the stage's scratch folder.
    public func create(_ file: FilePath) throws(IOError) -> OpenFile {
        try OpenFile.open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o666)
    }

    /// Opens a file below a folder of the job for reading.
    package func open(_ file: TreeFile, below root: FilePath) throws(IOError) -> OpenFile {
        // Most payloads are the drop itself: its name in the job's folder, and every folder on that way is ours.
        if root == jobFolder, file.relative.components.count == 1 {
            return try OpenFile.open(root.pushing(file.relative), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        }
        return try open(root).open(file.relative, O_RDONLY | O_NONBLOCK)
    }
}

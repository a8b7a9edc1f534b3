package import SystemPackage

/// One thing that was put into an inbox.
package struct Drop: Sendable, Hashable {
    /// Its name.
    package let name: FileName
    /// The folders between the inbox and it; empty at the top.
    package let folders: [FileName]
    /// Bytes.
    package let size: Int64
    /// When it was last changed before it was claimed, by the kernel's word (ctime); for a job that was found in the
    /// work folder when it was claimed.
    package let droppedAt: Timestamp
    /// Whether it is a folder with all it holds (`unit: folder`). Not written down: the work folder shows it.
    package let isFolder: Bool

    /// A drop.
    package init(
        name: FileName, folders: [FileName] = [], size: Int64, droppedAt: Timestamp, isFolder: Bool = false
    ) {
        self.name = name
        self.folders = folders
        self.size = size
        self.droppedAt = droppedAt
        self.isFolder = isFolder
    }

    /// Where it lay in the inbox.
    package var path: DropPath { DropPath(name, in: InboxFolder(folders)) }
}

/// One drop's journey, from claim to settlement.
package struct Job: Sendable, Hashable {
    /// Its id, which sorts by time.
    package let id: JobID
    /// The pipeline's name.
    package let pipeline: String
    /// What was dropped.
    package let drop: Drop
    /// When it was claimed.
    package let claimedAt: Timestamp
    /// The job's own folder; the drop lies in it under its own name, all else under hidden names.
    package let folder: FilePath

    /// A job.
    package init(id: JobID, pipeline: String, drop: Drop, claimedAt: Timestamp, folder: FilePath) {
        self.id = id
        self.pipeline = pipeline
        self.drop = drop
        self.claimedAt = claimedAt
        self.folder = folder
    }

    /// Where the dropped original lies while the job runs.
    package var original: FilePath { folder.appending(drop.name) }

    /// The scratch folder of a stage, by its place in the pipeline. Hidden, since no drop's name is.
    package func scratch(stage index: Int, kind: String) -> FilePath { folder.appending(".\(index + 1)-\(kind)") }

    /// What templates of this job stand for.
    package var templateValues: TemplateValues {
        TemplateValues(name: drop.name, folders: drop.folders, pipeline: pipeline, job: id.text, date: claimedAt)
    }
}

package import Files
package import SystemPackage

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
    /// The path of the dropped original while the job runs.
    package let original: FilePath
    /// Who the drop is from; nil where that is not known. Not recorded: the drop shows it.
    package let producer: String?

    package init(
        id: JobID, pipeline: String, drop: Drop, claimedAt: Timestamp, folder: FilePath, producer: String? = nil
    ) {
        self.id = id
        self.pipeline = pipeline
        self.drop = drop
        self.claimedAt = claimedAt
        self.folder = folder
        original = folder.appending(drop.name)
        self.producer = producer
    }

    /// The same, with what has been found out about the drop.
    package func with(_ drop: Drop? = nil, from producer: String?) -> Job {
        Job(
            id: id, pipeline: pipeline, drop: drop ?? self.drop, claimedAt: claimedAt, folder: folder,
            producer: producer)
    }

    /// The same as that of another pipeline.
    package func passed(to pipeline: String) -> Job {
        Job(id: id, pipeline: pipeline, drop: drop, claimedAt: claimedAt, folder: folder, producer: producer)
    }

    /// The name of that folder. Folders pass from job to job, so it may be the id of an earlier one.
    package var slot: JobID { folder.slot ?? id }

    /// The folder of files that were dropped with the drop, under their own names; exists only if there are any.
    package var sidecarFolder: FilePath { folder.appending(".marker") }

    /// The scratch folder of a stage, by its place in the pipeline. Hidden, since no drop's name is.
    package func scratch(stage index: Int, kind: String) -> FilePath { folder.appending(".\(index + 1)-\(kind)") }

    /// What templates of this job stand for.
    package var templateValues: TemplateValues {
        TemplateValues(name: drop.name, folders: drop.folders, pipeline: pipeline, job: id.text, date: claimedAt)
    }
}

extension FilePath {
    /// The last name of a path, where it is that of a job's folder.
    package var slot: JobID? {
        withBytes { bytes in JobID(utf8: bytes[((bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...]) }
    }
}

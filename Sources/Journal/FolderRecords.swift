package import PipelineKit

/// What is on record of jobs' folders, which pass from job to job.
package struct FolderRecords: Sendable {
    /// Those that jobs have which are not over.
    package var held: Set<JobID> = []
    /// Those that bear the id of a job, or had one.
    package var used: Set<JobID> = []
    /// Jobs that were declared lost with their folders.
    package var lost: [JobID: JobRecord] = [:]

    package init() {}

    /// What is said of one of them.
    package func only(_ folder: JobID) -> FolderRecords {
        var records = FolderRecords()
        if held.contains(folder) { records.held = [folder] }
        if used.contains(folder) { records.used = [folder] }
        records.lost[folder] = lost[folder]
        return records
    }
}

import Files
public import SystemPackage

/// What a stage may use while it runs one job.
public struct StageContext: Sendable {
    /// What the job is about.
    public let job: JobFacts
    /// The run of this stage: how it is called off, and what it tells.
    public let work: Work
    /// What is to be known of the disk.
    package let disk: Disk
    /// Which content came before.
    package let seen: any SeenContent

    package init(job: JobFacts, work: Work = Work(), disk: Disk, seen: any SeenContent = NothingSeen()) {
        self.job = job
        self.work = work
        self.disk = disk
        self.seen = seen
    }

    /// The stage's place in its pipeline, such as `3-upload`.
    package var place: String { String((disk.scratch.lastComponent?.string ?? "").drop { $0 == "." }) }

    /// Makes the stage's own folder, empty, and gives its path. It is on the work folder's file system and within the
    /// job's private folder, so it has the mode that it is to be published with: 0777 less the umask.
    public func makeScratch() throws(Failure) -> FilePath {
        do throws(IOError) {
            try Folder.open(jobFolder).makeClean(disk.scratch.lastEntry, mode: 0o777)
            return disk.scratch
        } catch {
            throw Failure(inStage: error)
        }
    }

    /// Throws `cancelled` once the work is called off.
    public func checkCancelled() throws(Failure) {
        if work.cancellation.isCancelled { throw .cancelled }
    }
}

import Files
public import SystemPackage

extension PathTemplate {
    /// Where a stage publishes a job's payload. `kind`: the stage, for messages.
    public func destination(
        of payload: Payload, of job: StageContext.JobFacts, for kind: String
    ) throws(Failure) -> FilePath {
        let destination: FilePath
        do throws(TemplateProblem) {
            destination = try path(job.values)
        } catch {
            throw .file(
                "\(kind).destination",
                "The destination of '\(job.drop.name)' cannot be rendered: \(error.message).",
                remedy: "Rename the file and drop it again, or change 'to' in the stage '\(kind)'.")
        }
        // What a name made must not be in the way of another: that is the drop's fault, not that of the surroundings.
        var folder = payload.shape == .folder ? destination.removingLastComponent() : destination
        while folder.starts(with: fixedFolder), folder != fixedFolder {
            let found = Folder.kind(of: folder, followingLinks: true)
            if let found, found != .folder {
                throw .file(
                    "\(kind).taken",
                    "'\(folder.text)' is a file, so '\(job.drop.name)' cannot be published there.",
                    remedy: "Remove or rename that file, or rename the drop; then drop it again.")
            }
            if found != nil { break }
            folder.removeLastComponent()
        }
        return destination
    }
}

package import PipelineKit
package import SystemPackage

/// Finds what an earlier run left in a work folder. The folder says that a job exists.
package enum Recovery {
    /// What was found.
    package struct Findings: Sendable {
        /// Jobs that go on, oldest first.
        package var jobs: [Job] = []
        /// Things that nobody here made, left alone.
        package var strangers: [FilePath] = []
    }

    /// Reads the work folder: a job folder with its drop is adopted, with scratch folders removed; one without (the
    /// claim did not get to its rename, or the settlement moved the original already) is removed.
    package static func adopt(_ work: WorkFolder, pipeline: String) throws(IOError) -> Findings {
        var findings = Findings()
        for name in try Folder.names(in: work.active) {
            let folder = work.active.appending(name)
            guard let id = JobID(name.text), Folder.kind(of: folder) == .folder else {
                findings.strangers.append(folder)
                continue
            }
            switch try content(of: folder) {
            case .drop(let name, let size): findings.jobs.append(job(id, (name, size), in: folder, of: pipeline))
            case .nothing: try Folder.remove(folder)
            case .strange: findings.strangers.append(folder)
            }
        }
        findings.jobs.sort { $0.id < $1.id }
        return findings
    }

    private enum Content {
        case drop(FileName, size: Int64)
        case nothing
        case strange
    }

    private static func content(of path: FilePath) throws(IOError) -> Content {
        let names = try Folder.names(in: path)
        guard let drop = names.first(where: { !$0.isHidden }) else { return .nothing }
        let folder = try OpenFile.openFolder(path)
        let sample = try Sample.take(of: drop, in: folder, writers: false)
        guard case .file(let fingerprint, _) = sample else { return .strange }
        for name in names where name.isHidden { try Folder.remove(path.appending(name)) }
        return .drop(drop, size: fingerprint.size)
    }

    private static func job(
        _ id: JobID, _ drop: (name: FileName, size: Int64), in folder: FilePath, of pipeline: String
    ) -> Job {
        Job(
            id: id, pipeline: pipeline, drop: Drop(name: drop.name, size: drop.size, droppedAt: id.time),
            claimedAt: id.time,
            folder: folder)
    }
}

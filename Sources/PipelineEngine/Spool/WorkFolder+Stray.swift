package import PipelineKit
package import SystemPackage

extension WorkFolder {
    /// The warning about a job's folder that was set aside.
    static func strayWarning(of drop: FileName, _ folder: FilePath) -> String {
        "the job folder of '\(drop)' held something that is not Dropmill's: another program must have put it "
            + "there. It is kept in '\(folder.text)'; check whether you need it, and remove it"
    }

    /// Whether a work folder that no process has open contains a job's folder.
    package static func holds(_ folder: JobID, below work: FilePath) -> Bool {
        Folder.kind(of: work.appending("active").appending(folder.text)) != nil
    }

    /// Sets a job's folder aside in a work folder that no process has open, and returns its new path.
    package static func setAside(
        _ folder: JobID, of id: JobID, below work: FilePath
    ) throws(IOError) -> FilePath {
        try setAside(work.appending("active").appending(folder.text), in: work.appending("astray"), as: id.text)
    }

    /// Removes what could not be removed before.
    static func emptyTrash(_ trash: FilePath) throws(IOError) {
        guard Folder.kind(of: trash) == .folder else { return }
        for name in try Folder.names(in: trash) {
            // What still cannot be removed is in nobody's way.
            do throws(IOError) { try Folder.remove(trash.appending(name)) } catch { continue }
        }
    }
}

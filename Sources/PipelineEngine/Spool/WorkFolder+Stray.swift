package import Files
import Glibc
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

    /// Where a drop lies once its job's folder is set aside with it.
    func keptPath(of drop: FileName, of id: JobID) -> FilePath { astray.appending(id.text).appending(drop) }

    /// Whether a job's folder was set aside: then the job was about to end.
    func hasSetAside(_ id: JobID) throws(IOError) -> Bool {
        for folder in [astray, trash] where try isGone(folder.appending(id.text)) == false { return true }
        return false
    }

    /// Removes what could not be removed before. `kept`: of jobs that are not on record as over yet, it shows that they
    /// were about to be.
    func emptyTrash(but kept: Set<JobID>) {
        guard Folder.kind(of: trash) == .folder else { return }
        do throws(IOError) {
            for name in try Folder.names(in: trash) where JobID(name.text).map({ !kept.contains($0) }) ?? true {
                // What still cannot be removed is in nobody's way.
                do throws(IOError) { try Folder.remove(trash.appending(name)) } catch { continue }
            }
        } catch {
            return
        }
        // Older versions do not know it.
        _ = trash.withPlatformString { rmdir($0) }
    }

    /// Removes what is in a job's folder. A folder gets a hidden name first: taken apart file by file, it would look to
    /// a later start like a drop, or like something that is still to be moved.
    static func remove(_ path: FilePath) throws(IOError) {
        guard path.lastName?.isHidden == false, Folder.kind(of: path) == .folder else { return try Folder.remove(path) }
        let gone = path.removingLastComponent().appending(".dropmill-gone")
        try Folder.remove(gone)
        try NoReplace.rename(path, to: gone)
        try Folder.remove(gone)
    }
}

import PipelineKit
import SystemPackage

extension WorkFolder {
    /// The warning about a job's folder that was set aside.
    static func strayWarning(of drop: FileName, _ folder: FilePath) -> String {
        "the job folder of '\(drop)' held something that is not Dropmill's: another program must have put it "
            + "there. It is kept in '\(folder.text)'; check whether you need it, and remove it"
    }
}

import PipelineKit
import SystemPackage

extension WorkFolder {
    /// What is said of a job's folder that was set aside.
    static func strayWarning(of drop: FileName, _ folder: FilePath) -> String {
        "in the folder of the job of '\(drop)' there was something that is not Dropmill's: a program must have put it "
            + "there. It is kept in '\(folder.text)'; see whether you need it, and remove it"
    }
}

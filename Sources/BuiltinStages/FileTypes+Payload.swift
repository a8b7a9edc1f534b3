import FileTypes
import Glibc
import PipelineKit
import SystemPackage

extension StageContext {
    /// The type of one file.
    func type(of file: TreeFile, of payload: Payload) throws(StageFailure) -> MediaType {
        try checkCancelled()
        let path = payload.path(of: file)
        let opened = try StageFailure.onIOError { () throws(IOError) in try open(file, of: payload) }
        do throws(TypeDetector.Problem) {
            return try TypeDetector.type(of: opened.descriptor)
        } catch  where error.isOfContent {
            throw .file(
                "detect.limit", "The type of '\(path.lastName?.text ?? "")' cannot be told: \(error.message).",
                remedy: "It is damaged, or made to be hard to look at; no program makes such files.")
        } catch {
            throw StageFailure(
                .environment, code: "detect.library", summary: "The type of '\(path.text)' cannot be told.",
                remedy: "Install libmagic with its rules (libmagic1, libmagic-mgc); work goes on by itself.",
                detail: error.message)
        }
    }

    /// The types of files, in their order, several at once.
    func types(of files: [TreeFile], of payload: Payload) throws(StageFailure) -> [MediaType] {
        try concurrently(files) { (file) throws(StageFailure) in
            defer { progress.add(entries: 1) }
            return try type(of: file, of: payload)
        }
    }
}

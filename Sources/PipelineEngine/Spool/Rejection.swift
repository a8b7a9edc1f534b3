import Files
import Glibc
import Journal
import PipelineKit
import SystemPackage

/// Why a job is to fail without running, in its folder, from before its drop is there: should the process die before
/// the journal knows, the job is found as what it is.
enum Rejection {
    private static let name: FilePath.Component = ".condemned"
    private static let draft: FilePath.Component = ".condemned-draft"
    /// What it leaves in a job's folder.
    static let names = [name.string, draft.string]

    static func write(_ failure: Failure, in folder: FilePath) throws(IOError) {
        var json = JSONText()
        json.failure(failure)
        let path = folder.appending(draft)
        let file = try OpenFile.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
        try file.write(json.bytes)
        try file.close()
        try NoReplace.rename(path, to: folder.appending(name))
    }

    /// The reason that is written down, if any.
    static func read(in folder: FilePath) throws(IOError) -> Failure? {
        let path = folder.appending(name)
        guard Folder.kind(of: path) == .regular else { return nil }
        let text = String(decoding: try SmallFile.read(path, atMost: 1 << 20), as: UTF8.self)
        return JSONValue(text)?.failure
            ?? .file(
                "ready.timeout", "The drop was not complete in time.", remedy: "Drop it again complete.",
                detail: "the recorded reason cannot be read")
    }
}

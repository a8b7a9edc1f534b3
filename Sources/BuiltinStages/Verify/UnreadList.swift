import Digests
import Files
import Glibc
import PipelineKit
import SystemPackage

/// A file that is a list of digests by its name, and was not read.
struct UnreadList {
    let path: [UInt8]
    /// Why, as a sentence; nil where its form is none that is known.
    var reason: String?

    var fact: String {
        "'\(EscapedText.of(path))' is present, but "
            + (reason.map { "cannot be read as a list (\($0.dropLast()))" } ?? "lists of this kind are not supported")
    }

    /// Names the first of them in the job's history.
    static func note(_ unread: [UnreadList], _ context: StageContext) {
        for list in unread.prefix(10) { context.work.notes.add(list.fact) }
    }
}

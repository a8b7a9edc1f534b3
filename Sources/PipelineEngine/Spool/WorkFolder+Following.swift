import Files
import PipelineKit
import SystemPackage

extension WorkFolder {
    /// Where that of a pipeline is or will be, or why nowhere.
    static func place(of pipeline: Pipeline, _ incarnation: String?) throws(FolderError) -> FilePath {
        do throws(IOError) { return try path(for: pipeline, of: incarnation) } catch { throw unusable(pipeline, error) }
    }

    /// Throws where it cannot be that of a pipeline with another inbox.
    func check(_ pipeline: Pipeline) throws(FolderError) {
        do throws(IOError) { try Self.checkIsOurs(path, pipeline) } catch { throw Self.unusable(pipeline, error) }
    }

    /// The pipeline was changed, and this is its inbox now. Looks at nothing.
    func serve(_ pipeline: Pipeline, from inbox: InboxIdentity?) {
        keepSlots(for: pipeline)
        self.inbox.withLock { $0 = inbox }
    }

    /// Whether the inbox is the one that it was then.
    func hasInbox(of pipeline: Pipeline) -> Bool {
        guard let found = InboxIdentity(of: pipeline.inbox) else { return false }
        return inbox.withLock { $0.map(found.isSame) ?? false }
    }
}

import Files
import Journal
import PipelineKit
import Readiness

/// How the folders of a pipeline are made and locked, before anything of its jobs is changed.
nonisolated extension Engine {
    /// The open folders of a pipeline, which nobody else has.
    struct Opened {
        let work: WorkFolder
        /// Tells other daemons of this host that the inbox is watched; nil where another one watches it.
        let inboxLock: FolderLock?

        /// Gives them back.
        func release() {
            work.release()
            inboxLock?.release()
        }
    }

    /// Makes and locks them. `shared`: the journal, where other nodes use it and the inbox, too.
    func open(_ pipeline: Pipeline, of shared: (any SharedJournal)?) throws(EngineError) -> Opened {
        warnOfMemory(pipeline)
        let own = OwnFolders(of: pipeline)
        return try EngineError.wrapping { () throws(FolderError) in
            try own.makeInbox()
            try own.prepare()
            let work = try WorkFolder(for: pipeline, of: shared?.incarnationID)
            do throws(FolderError) {
                // The folders above it may have been missing before.
                try own.refuseWork()
                return Opened(work: work, inboxLock: shared == nil ? try lockInbox(of: pipeline) : nil)
            } catch {
                work.release()
                throw error
            }
        }
    }

    /// Locks the inbox against other daemons of this host; nil if this one has it, and with a warning if another has.
    func lockInbox(of pipeline: Pipeline) throws(FolderError) -> FolderLock? {
        guard sync({ $0.inboxLocks[pipeline.inbox] }) == nil else { return nil }
        do throws(FolderError) {
            return try FolderLock(pipeline.inbox, describedAs: "the inbox")
        } catch {
            guard error.kind == .locked else { throw error }
            observer(
                .warning(
                    pipeline: pipeline.name,
                    message: "the inbox '\(pipeline.inbox.text)' is also watched by another process, perhaps a "
                        + "dropmill with its own work folder: each drop goes to one of the two; "
                        + "give each its own inbox"))
            return nil
        }
    }

    /// Warns if changes by other hosts may be seen too late.
    private func warnOfMemory(_ pipeline: Pipeline) {
        guard FileSystemKind.of(pipeline.inbox) != .local,
            let finding = AttributeMemory.finding(on: pipeline.inbox, pipeline.ready, .now())
        else { return }
        let message = [finding.fact, finding.remedy].compactMap { $0 }.joined(separator: ". ")
        observer(.warning(pipeline: pipeline.name, message: "the inbox's file system \(message)"))
    }
}

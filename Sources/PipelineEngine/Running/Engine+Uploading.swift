package import PipelineKit
package import SystemPackage

extension Engine {
    /// Where files for a pipeline may be sent in. Waits for the engine's queue, and for no disk.
    package nonisolated func uploadSpool(of name: String) throws(UploadRefusal) -> Spool {
        try sync { engine in engine.findUploadSpool(of: name) }.get()
    }

    private func findUploadSpool(of name: String) -> Result<Spool, UploadRefusal> {
        guard hasStarted, !isStopping else {
            return .failure(
                UploadRefusal(.stopping, "the daemon is starting or stopping", remedy: "Try again in a while."))
        }
        guard let runner = runners.first(where: { $0.pipeline.name == name }) else {
            if let place = awaited[name] {
                return .failure(
                    UploadRefusal(
                        .silent, "'\(place.text)' does not answer", remedy: "Try again once its file system does."))
            }
            return .failure(
                UploadRefusal(
                    .unknownPipeline, "there is no pipeline '\(name)'", remedy: "Choose one that 'status' lists."))
        }
        // What a person holds takes drops: they wait.
        let pause = runner.machine.pause
        if pause.isPaused, let reason = pause.reason, reason.isOfPlace { return .failure(UploadRefusal(reason)) }
        return .success(runner.intake.spool)
    }

    /// The inboxes of all pipelines that are loaded, and whether files may be sent into them.
    package nonisolated var uploadInboxes: [(inbox: FilePath, isOpen: Bool)] {
        sync { $0.runners.map { ($0.pipeline.inbox, $0.pipeline.upload != nil) } }
    }
}

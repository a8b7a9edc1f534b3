import FolderWatch
import PipelineKit

extension Failure {
    /// An inbox that cannot be watched: all its drops wait.
    init(_ error: WatchError) {
        switch error.cause {
        case .io(let error): self.init(error)
        case .away(let code, let summary, let remedy):
            self.init(.environment, code: code, summary: Sentence(summary), remedy: Sentence(remedy))
        }
    }
}

extension WatchError {
    init(_ failure: Failure) {
        self = .away(code: failure.code, summary: failure.summary, remedy: failure.remedy)
    }
}

import Dispatch
import Files
import PipelineKit

@testable import PipelineEngine

/// A stage that waits until it is let through, or called off.
final class Gate: Sendable {
    private let turn = DispatchSemaphore(value: 0)
    func open() { turn.signal() }

    var entry: StageEntry {
        .fake { [turn] (payload, context) throws(Failure) in
            while turn.wait(timeout: .now() + .milliseconds(20)) != .success { try context.checkCancelled() }
            turn.signal()
            // As a stage does that looks into its folder.
            guard Folder.kind(of: payload.path) != nil else {
                throw Failure(IOError("open", payload.path, .noSuchFileOrDirectory))
            }
            return payload
        }
    }
}

package import PipelineKit
import Synchronization

/// The helpers that this program can be.
package enum OwnHelpers {
    /// None before `helperMain` was called.
    static let known = Mutex<[HelperProgram]>([])

    /// Has this program be every helper that it can be and that nobody else is.
    package static func add(to services: inout StageServices) {
        for helper in known.withLock({ $0 }) { helper.addSelf(to: &services) }
    }
}

public import PipelineKit
import Synchronization

/// Has this program be the helper of its own stages: archives, types and formats are read in processes of their own,
/// which are started from the same executable. To be called first thing in `main`, with the kinds of stages that the
/// program has.
///
/// Where this process was started as such a helper, it serves and never returns. Else it returns at once, and from then
/// on every `Mill` of this process has its helpers made of this program.
public func helperMain(_ stages: StageRegistry) {
    let helpers = stages.helpers + [FormatProgram.helper]
    HelperProgram.serve(helpers)
    OwnHelpers.known.withLock { $0 = helpers }
}

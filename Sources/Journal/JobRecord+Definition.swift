package import Files
package import PipelineKit

/// A job whose pipeline was changed.
extension JobRecord {
    /// The event of a job that runs stages again, since its pipeline is another one than when they ran.
    package static let begunAgain = "begun again"

    /// Notes the input of a stage that has ended, from which a changed pipeline may go on. `isChanged`: the stage has
    /// put something into it, so that nothing but the drop can be gone back to.
    package mutating func keepInput(of stage: Int, isChanged: Bool = false) {
        if isChanged { inputs = nil } else { inputs?[stage] = payload }
    }

    /// Passes to another pipeline.
    package mutating func pass(to pipeline: String, at time: Timestamp) {
        guard pipeline != self.pipeline else { return }
        history.append(Transition("taken over", at: time, note: "from the pipeline '\(self.pipeline)'"))
        self.pipeline = pipeline
    }

    /// Goes on under another definition of its pipeline: behind the longest beginning that both have, as far as the
    /// payload is still there; else from the first stage. Says in its history where stages run again.
    ///
    /// `isThere`: whether the files of an earlier payload can be used.
    package mutating func goOn(under new: Definition, at time: Timestamp, isThere: (Payload) -> Bool) {
        guard new != definition else { return }
        let shared = new.sharedBeginning(with: definition)
        definition = new
        let isDone = payload?.isDone == true
        guard stage >= shared else { return }
        (failures, nextAttempt) = (0, nil)
        guard stage > shared else {
            // One that was done early needs none of the further stages either.
            if isDone { stage = new.stages.count }
            return
        }
        // Nothing was given to the stages that it left out.
        let known = isDone ? nil : inputs
        beginAgain(at: known.flatMap { inputs in (0...shared).last { inputs[$0].map(isThere) ?? true } } ?? 0)
        history.append(Transition(Self.begunAgain, at: time, note: "the pipeline was changed"))
    }

    /// Goes back to a stage, with what that was given.
    package mutating func beginAgain(at next: Int) {
        (stage, failures, nextAttempt) = (next, 0, nil)
        payload = next == 0 ? nil : inputs?[next]
        inputs = next == 0 ? [:] : inputs?.filter { $0.key < next }
    }
}

import ArgumentParser
import PipelineKit

/// A verb that has to know the kinds of stages of its executable.
protocol StageVerb: ParsableCommand {
    func run(with stages: StageRegistry) throws
}

extension StageVerb {
    /// `DropmillCommand.main` runs it with the kinds.
    func run() throws { try run(with: StageRegistry([])) }
}

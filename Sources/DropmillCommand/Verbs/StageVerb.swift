import ArgumentParser
import PipelineKit

/// A verb that has to know the kinds of stages of its executable: `DropmillCommand.main` runs it with them.
protocol StageVerb: ParsableCommand {
    func run(with stages: StageRegistry) throws
}

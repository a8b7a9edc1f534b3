import Files
import FolderWatch
package import PipelineKit

/// Puts what waits first or last in its line. That is in memory only: after a restart or reload the usual order holds.
extension Engine {
    /// Puts a job first or last among those that wait for the same stage, and says where it is then. Blocks.
    package nonisolated func bump(_ id: JobID, last isLast: Bool) throws(EngineError) -> String {
        let (state, outcome) = sync { engine in
            let runner = engine.all.first { $0.machine.jobs[id] != nil }
            let outcome = runner?.bump(id, last: isLast)
            runner?.endTurn()
            return (engine.opened, outcome)
        }
        guard let state else { throw .refused("the daemon is starting or stopping; try again later") }
        guard let outcome else { throw .refused(absence(of: id, state.journal)) }
        return try outcome.get()
    }

    /// Puts a drop first or last among those that wait to be claimed, by its path from the inbox on, and reports where
    /// it is then, on a queue of the engine.
    package nonisolated func bump(
        _ path: [UInt8], of pipeline: String, last isLast: Bool,
        _ report: @escaping @Sendable (Result<String, EngineError>) -> Void
    ) {
        enqueue { engine in
            guard let runner = engine.runners.first(where: { $0.pipeline.name == pipeline }) else {
                return report(.failure(.refused("the pipeline '\(pipeline)' is not loaded")))
            }
            runner.intake.bump(path, last: isLast, report)
        }
    }
}

extension PipelineRunner {
    /// Nil where it has no such job.
    fileprivate func bump(_ id: JobID, last isLast: Bool) -> Result<String, EngineError>? {
        guard let entry = machine.jobs[id] else { return nil }
        if entry.calledOff != nil { return .failure(.refused("it is cancelled")) }
        let place = isLast ? "last" : "first"
        switch (entry.state, entry.holder) {
        case (.settling, _): return .failure(.refused("it is being settled"))
        case (.deferred, _): return .failure(.refused("it waits for its next attempt; 'dropmill show \(id)' says when"))
        case (_, .nobody):
            guard machine.held.contains(id) else {
                return .failure(.refused("it waits in no line; 'dropmill show \(id)' says what for"))
            }
            send(.bumped(id, last: isLast))
            return .success("\(place) of those that go on once they may; 'dropmill show \(id)' says what holds it back")
        case (_, .quarantine):
            return .failure(.refused("it runs alone when its turn comes, since the daemon may have died of it"))
        case (.queued(let stage, _), _), (.running(let stage, _), _):
            guard pipeline.stages.indices.contains(stage) else { return .failure(.refused("it is being settled")) }
            let kind = pipeline.stages[stage].kind
            guard workers[stage].bump(id, last: isLast) else {
                return .failure(.refused("its stage '\(kind)' is running"))
            }
            return .success("\(place) of those that wait for '\(kind)'")
        }
    }
}

extension Intake {
    fileprivate nonisolated func bump(
        _ bytes: [UInt8], last isLast: Bool, _ report: @escaping @Sendable (Result<String, EngineError>) -> Void
    ) {
        guard let path = DropPath(bytes: bytes) else {
            return report(.failure(.refused("that is not a path in an inbox")))
        }
        enqueue { intake in
            guard !intake.ready.bump(path, last: isLast) else {
                intake.turnSoon()
                return report(.success("\(isLast ? "last" : "first") of those that wait to be claimed"))
            }
            guard let drop = intake.standing(of: path, at: .now()) else {
                return report(.failure(.refused("no drop of that name waits; 'dropmill explain' says more")))
            }
            guard intake.gate.waiting(for: path, at: .now()) != .ceded else {
                return report(.failure(.refused("another node comes first, so that it waits in no line here")))
            }
            report(.failure(.refused("it is not complete yet, and waits: \(drop.waiting.text)")))
        }
    }
}

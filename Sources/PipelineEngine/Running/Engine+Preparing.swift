@preconcurrency import Dispatch
import Files
import PipelineKit

/// How a reload opens the folders of those that it adds or changes: on a queue of its own, since a file system may not
/// answer. What is given up is as if it had never been asked for, however late it ends.
extension Engine {
    nonisolated func prepare(
        _ plan: Plan, _ state: OpenedState, within patience: Double
    ) throws(EngineError) -> [Arrival] {
        let attempt = Attempt<Result<[Arrival], EngineError>>()
        preparing.async { @Sendable [self] in
            let result = Result { () throws(EngineError) in try arrivals(of: plan, state) }
            if !attempt.end(with: result), case .success(let arrivals) = result { abandon(arrivals) }
        }
        guard let result = attempt.wait(for: patience) else {
            throw .refused(
                "the folders of the pipelines that are added or changed were not opened within "
                    + "\(Duration.seconds(patience).text): a file system that one of them is on does not answer; mount "
                    + "it again, or leave that pipeline as it was")
        }
        return try result.get()
    }

    private nonisolated func arrivals(of plan: Plan, _ state: OpenedState) throws(EngineError) -> [Arrival] {
        // Jobs of those that are still leaving go over in memory.
        sync { $0.arriving = plan.arriving }
        // What another one gives back may be on such a file system, too.
        _ = closings.wait(timeout: .now() + Self.patienceWithOld)
        var arrivals: [Arrival] = []
        do throws(EngineError) {
            for pipeline in plan.arriving { arrivals.append(try arrival(of: pipeline)) }
            try prepare(&arrivals, state)
            return arrivals
        } catch {
            abandon(arrivals)
            throw error
        }
    }
}

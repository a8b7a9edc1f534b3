/// How far a job is. Pure: state and event go in, the transition comes out; whoever holds the state does what it says.
package enum JobState: Sendable, Equatable {
    /// How a job ends.
    package enum Outcome: Sendable, Equatable {
        /// Every stage succeeded.
        case processed
        /// It failed for good.
        case failed(StageFailure)
    }

    /// Waits for a worker of that stage; `failures`: runs of the stage that have failed so far.
    case queued(stage: Int, failures: Int)
    /// A worker has it.
    case running(stage: Int, failures: Int)
    /// Waits for its next attempt, without a worker, because of the last failure.
    case deferred(stage: Int, failures: Int, StageFailure)
    /// Its outputs are being published and its original moved.
    case settling(Outcome)
    /// Done.
    case settled(Outcome)

    /// What can happen to a job.
    package enum Event: Sendable, Equatable {
        /// A worker took it.
        case started
        /// The stage succeeded.
        case succeeded
        /// The stage succeeded, and no further one is needed.
        case completed
        /// The stage, or the settlement, failed.
        case failed(StageFailure)
        /// The wait of a deferred job is over.
        case due
        /// Everything is in its place.
        case settled
        /// The outputs could not be brought to the disk: they must be made anew, since what the kernel could not write
        /// it may have dropped.
        case outputsLost(StageFailure)
    }

    /// What is to be done on entering the new state.
    package enum Action: Sendable, Equatable {
        /// Hand the job to a worker of the stage.
        case run(stage: Int)
        /// Nothing: the worker is at it.
        case none
        /// Wait, then report `due`.
        case wait(Duration)
        /// Stop the pipeline for this reason; the job's state is ready to go on from.
        case pause(StageFailure)
        /// Publish and move.
        case settle(Outcome)
        /// The job is over: free its place.
        case release
        /// The work was called off: leave the job where it is, for the next start.
        case park
    }

    /// What a decision may depend on besides the state and the event.
    package struct Rules: Sendable {
        /// How many stages the pipeline has.
        package var stages: Int
        /// The retry policy of the stage in question.
        package var retry: RetryPolicy
        /// Chance, from 0 to 1.
        package var jitter: Double

        /// Rules.
        package init(stages: Int, retry: RetryPolicy = RetryPolicy(), jitter: Double = 0) {
            self.stages = stages
            self.retry = retry
            self.jitter = jitter
        }
    }

    /// The state of a job that has just been claimed, and what to do with it.
    package static func claimed(_ rules: Rules) -> (state: JobState, action: Action) {
        arrive(at: 0, rules)
    }

    /// The next state and what to do; nil where the event cannot happen in this state.
    package func next(_ event: Event, _ rules: Rules) -> (state: JobState, action: Action)? {
        switch (self, event) {
        case (.queued(let stage, let failures), .started):
            (.running(stage: stage, failures: failures), .none)
        case (.running(let stage, _), .succeeded):
            Self.arrive(at: stage + 1, rules)
        case (.running, .completed):
            (.settling(.processed), .settle(.processed))
        case (.running(let stage, let failures), .failed(let failure)):
            Self.failing(failure, stage: stage, failures: failures, rules)
        case (.deferred(let stage, let failures, _), .due):
            (.queued(stage: stage, failures: failures), .run(stage: stage))
        case (.settling(let outcome), .settled):
            (.settled(outcome), .release)
        case (.settling(let outcome), .failed(let failure)):
            Self.settlementFailing(failure, outcome)
        case (.settling(.processed), .outputsLost(let failure)) where rules.stages > 0:
            (.queued(stage: 0, failures: 0), .pause(failure))
        case (.settling(let outcome), .outputsLost(let failure)):
            (.settling(outcome), .pause(failure))
        default: nil
        }
    }

    /// The stage that the job waits for or is at; nil once it settles.
    package var stage: Int? {
        switch self {
        case .queued(let stage, _), .running(let stage, _), .deferred(let stage, _, _): stage
        case .settling, .settled: nil
        }
    }

    private static func arrive(at stage: Int, _ rules: Rules) -> (JobState, Action) {
        if stage < rules.stages { return (.queued(stage: stage, failures: 0), .run(stage: stage)) }
        return (.settling(.processed), .settle(.processed))
    }

    private static func failing(
        _ failure: StageFailure, stage: Int, failures: Int, _ rules: Rules
    ) -> (JobState, Action) {
        switch failure.class {
        case .file:
            return (.settling(.failed(failure)), .settle(.failed(failure)))
        case .transient:
            let delay = rules.retry.delay(
                afterFailures: failures + 1, jitter: rules.jitter, asked: failure.retryAfter)
            guard let delay else {
                return (.settling(.failed(failure)), .settle(.failed(failure)))
            }
            return (.deferred(stage: stage, failures: failures + 1, failure), .wait(delay))
        case .environment:
            return (.queued(stage: stage, failures: failures), .pause(failure))
        case .cancelled:
            return (.queued(stage: stage, failures: failures), .park)
        }
    }

    /// A job whose outputs cannot be published because of the drop itself fails; one that cannot even be moved to
    /// failed waits for its surroundings, since there is nowhere else to put it.
    private static func settlementFailing(_ failure: StageFailure, _ outcome: Outcome) -> (JobState, Action) {
        switch (failure.class, outcome) {
        case (.cancelled, _): (.settling(outcome), .park)
        case (.file, .processed): (.settling(.failed(failure)), .settle(.failed(failure)))
        default: (.settling(outcome), .pause(failure))
        }
    }
}

import SystemPackage

/// One stage of a pipeline.
package struct StageEntry: Sendable {
    /// The kind's word.
    package let kind: String
    /// The stage with its options.
    package let stage: any Stage
    /// How many jobs it may work on at once.
    package let workers: Int
    /// Whether that holds for all nodes together that share a journal.
    package let isFleetWide: Bool
    /// Which drops it is for; nil: all.
    package let when: Condition?
    /// How long a run may take before it is called off, which counts as a transient failure; nil: as long as it likes.
    package var timeout: Duration?
    /// How its transient failures are retried; nil: as the pipeline says.
    package let retry: RetryPolicy?
    /// Its options that are folders, such as where it publishes to, by name.
    package let targets: [String: PathTemplate]

    package init(
        kind: String, stage: any Stage, workers: Int = 1, isFleetWide: Bool = false, when: Condition? = nil,
        timeout: Duration? = nil, retry: RetryPolicy? = nil, targets: [String: PathTemplate] = [:]
    ) {
        self.kind = kind
        self.stage = stage
        self.workers = max(1, workers)
        self.isFleetWide = isFleetWide
        self.when = when
        self.timeout = timeout
        self.retry = retry
        self.targets = targets
    }

    /// Whether it may make files, for which there has to be space.
    package var makesFiles: Bool {
        !stage.effects.isDisjoint(with: [.replacesPayload, .publishesCopy])
    }

    /// Whether the stage runs for a drop whose payload is this.
    package func applies(to drop: Drop, _ payload: Payload) -> Bool {
        when?.holds(for: drop, facts: payload.knownFacts) ?? true
    }
}

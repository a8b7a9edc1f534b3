/// The static description of a stage kind.
package struct StageDescriptor: Sendable {
    /// What a stage may do to the payload, as far as checks of a whole pipeline need to know.
    package enum Effect: Sendable, Hashable {
        /// May hand on a new payload that is not the drop itself.
        case replacesPayload
        /// Gives the payload a destination.
        case publishes
        /// Also publishes a copy of the payload.
        case publishesCopy
        /// May say that no further stage is needed (`Payload.isDone`).
        case ends
    }

    /// What a pipeline may lack.
    package enum Need: Sendable, Hashable {
        /// A stage that publishes what others made.
        case publishing
        /// A stage that notifies someone of a failed job.
        case telling
    }

    /// The word in the pipeline file.
    package let kind: String
    /// One sentence: what it does.
    package let summary: String
    /// Its own options; what every stage takes (`commonOptions`) is not among them.
    package let options: [AnyStageOption]
    /// What it may do to the payload.
    package let effects: Set<Effect>
    /// Whether its options can remove all effects but `ends`.
    package let mayHaveNoEffect: Bool
    /// A stage entry that works, as YAML.
    package let example: String
    /// The facts (see `Stage.facts`) that `when` of a later stage may ask for.
    package let conditions: [String]
    /// What the kind is proposed for, each with an entry as YAML: `move: { to: … }`.
    package let remedies: [Need: String]

    package init(
        kind: String, summary: String, options: [AnyStageOption] = [], effects: Set<Effect> = [],
        mayHaveNoEffect: Bool = false, example: String, conditions: [String] = [], remedies: [Need: String] = [:]
    ) {
        self.kind = kind
        self.summary = summary
        self.options = options
        self.effects = effects
        self.mayHaveNoEffect = mayHaveNoEffect || effects.isSubset(of: [.ends])
        self.example = example
        self.conditions = conditions
        self.remedies = remedies
    }

    /// Options that every stage takes besides its own.
    package static let commonOptions = ["workers", "timeout", "retry", "when"]
}

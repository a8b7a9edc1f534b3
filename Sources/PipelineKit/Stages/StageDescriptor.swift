/// The static description of a stage kind.
public struct StageDescriptor: Sendable {
    /// What a stage may do to the payload, as far as checks of a whole pipeline need to know.
    public enum Effect: Sendable, Hashable {
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
    public enum Need: Sendable, Hashable {
        /// A stage that publishes what others made.
        case publishing
        /// A stage that notifies someone of a failed job.
        case telling
    }

    /// The word in the pipeline file.
    public let kind: String
    /// One sentence: what it does.
    public let summary: String
    /// Its own options; what every stage takes (`commonOptions`) is not among them.
    public let options: [AnyStageOption]
    /// What it may do to the payload.
    public let effects: Set<Effect>
    /// Whether its options can remove all effects but `ends`.
    public let mayHaveNoEffect: Bool
    /// A stage entry that works, as YAML.
    public let example: String
    /// The facts (see `Stage.facts`) that `when` of a later stage may ask for.
    public let conditions: [String]
    /// What the kind is proposed for, each with an entry as YAML: `move: { to: … }`.
    public let remedies: [Need: String]

    /// A description; what is left out is nothing.
    public init(
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

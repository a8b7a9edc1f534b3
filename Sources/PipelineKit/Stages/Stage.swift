/// One step of a pipeline: takes a job's payload and hands on the same or a new one.
///
/// A stage may be run twice over the same input (after a crash), so it must be repeatable: whatever it makes goes into
/// its scratch folder, which is clean at each start, or is the same again. It knows no engine and no other stage.
public protocol Stage: Sendable {
    /// The kind's static description.
    static var descriptor: StageDescriptor { get }

    /// A stage with these options; throws what the options' own declarations cannot see.
    init(options: StageOptions) throws(OptionProblem)

    /// What it may do to the payload with these options; what the kind may do unless it says otherwise.
    var effects: Set<StageDescriptor.Effect> { get }

    /// The names under which it adds to a payload's digests or facts: what templates and conditions of later stages may
    /// name. None unless it says otherwise.
    var facts: [String] { get }

    /// Whether what earlier stages found out about the payload holds for what this one hands on. Not for a kind that
    /// may replace the payload, unless it says otherwise.
    var keepsFacts: Bool { get }

    /// Does the work for one job, blocking the calling worker. Checks `context.checkCancelled` in every loop over data.
    func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload

    /// Whether it tells others the job's id, who may go by it: also after a kill a job has the same one then. No unless
    /// it says otherwise.
    var tellsJob: Bool { get }
}

extension Stage {
    /// What the kind may do.
    public var effects: Set<StageDescriptor.Effect> { Self.descriptor.effects }
    /// None.
    public var facts: [String] { [] }
    /// Where it cannot replace the payload.
    public var keepsFacts: Bool { !effects.contains(.replacesPayload) }
    /// No.
    public var tellsJob: Bool { false }
}

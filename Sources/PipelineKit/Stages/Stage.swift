package import Files
package import SystemPackage

/// One step of a pipeline: takes a job's payload and hands on the same or a new one.
///
/// A stage may be run twice over the same input (after a crash), so it must be repeatable: whatever it makes goes into
/// its scratch folder, which is clean at each start, or is the same again. It knows no engine and no other stage.
package protocol Stage: Sendable {
    /// The kind's static description.
    static var descriptor: StageDescriptor { get }

    /// A stage with these options; throws what the options' own declarations cannot see.
    init(options: StageOptions) throws(OptionProblem)

    /// What it may do to the payload with these options; what the kind may do unless it says otherwise.
    var effects: Set<StageDescriptor.Effect> { get }

    /// The names under which it adds to a payload's digests or facts: what templates and conditions of later stages may
    /// name. None unless it says otherwise.
    var facts: [String] { get }

    /// The lists that it adds lines to wherever payloads are published (`Payload.lines`): nothing else gets their names
    /// there. None unless it says otherwise.
    var lists: [FileName] { get }

    /// Whether what earlier stages found out about the payload holds for what this one hands on. Not for a kind that
    /// may replace the payload, unless it says otherwise.
    var keepsFacts: Bool { get }

    /// Tries what it needs besides the drop, for `doctor`: programs, services, files. Nothing unless it says otherwise.
    /// `bench`: an empty folder of our own on the work folder's file system, which goes afterwards; nil where there is
    /// none.
    func examine(in bench: FilePath?) -> [Finding]

    /// Does the work for one job, blocking the calling worker. Checks `context.checkCancelled` in every loop over data.
    func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload

    /// Whether it tells others the job's id, who may go by it: also after a kill a job has the same one then. No unless
    /// it says otherwise.
    var tellsJob: Bool { get }

    /// Whether small drops may pass it by their content alone, without `run`: it makes no files of its own then, runs
    /// nothing and sends nothing. No unless it says otherwise.
    var isQuick: Bool { get }

    /// What `run` would hand on for a drop that no stage has changed, with its content at hand; nil where `run` is to
    /// be asked: for whatever is out of the ordinary, and each failure.
    func pass(_ payload: Payload, of job: Job, holding content: SmallContent) -> Payload?
}

extension Stage {
    package var effects: Set<StageDescriptor.Effect> { Self.descriptor.effects }
    package var facts: [String] { [] }
    package var lists: [FileName] { [] }
    package var keepsFacts: Bool { !effects.contains(.replacesPayload) }
    package func examine(in bench: FilePath?) -> [Finding] { [] }
    package var tellsJob: Bool { false }
    package var isQuick: Bool { false }
    package func pass(_ payload: Payload, of job: Job, holding content: SmallContent) -> Payload? { nil }
}

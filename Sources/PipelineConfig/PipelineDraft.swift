import Files
import PipelineKit
import SystemPackage

/// What was read from one file, with where it stands: as much of it as is right, so that checks can say all that is
/// wrong at once.
struct PipelineDraft {
    struct Placed<Value> {
        let value: Value
        let position: SourcePosition
    }

    struct Stage {
        let descriptor: StageDescriptor?
        let position: SourcePosition
        var templates: [(option: String, template: Placed<PathTemplate>)] = []
        var definition = ""
        var entry: StageEntry?

        /// What it may do to the payload: with its options where these are known, else what its kind may do.
        var effects: Set<StageDescriptor.Effect> { entry?.stage.effects ?? descriptor?.effects ?? [] }
    }

    /// The file, as it was given.
    let source: FilePath
    /// What it says, to tell what a reload changes.
    var declaration = Declaration()
    var name: Placed<String>?
    var inbox: Placed<FilePath>?
    var processed: Placed<Pipeline.Processed>?
    var failed: Placed<FilePath>?
    /// The templates of these two, if they have placeholders.
    var processedTemplate: PathTemplate?
    var failedTemplate: PathTemplate?
    var work: Placed<FilePath>?
    var formerly: Placed<String>?
    var trust: [FilePath] = []
    var match = MatchRule()
    var ready = ReadyRule()
    var onConflict = Pipeline.ConflictPolicy.rename
    var order = Pipeline.Order.arrival
    var scan = Pipeline.Scan.all
    var activeJobs = 1024
    var activeBytes: ByteSize?
    var durability = Durability.full
    var ownership = Pipeline.Ownership.take
    var rights = OutputRights()
    var retry = RetryPolicy()
    var minFree = ByteSize.minFree
    var upload: UploadRule?
    var fair: FairRule?
    var priority: PriorityRule?
    var limit: LimitRule?
    var keep: KeepRule?
    var weight = 1
    var hours: HoursRule?
    var stages: [Stage] = []
    var onFailure: [Stage] = []
    /// What only one daemon can keep to.
    var solitary: [Placed<String>] = []

    /// The folder of `processed`, where it is one.
    var processedFolder: Placed<FilePath>? {
        guard let processed, case .folder(let path) = processed.value else { return nil }
        return Placed(value: path, position: processed.position)
    }

    /// The lists that its stages add lines to.
    var lists: [FileName] { stages.compactMap(\.entry).flatMap(\.stage.lists) }

    /// Whether a stage publishes every payload.
    var alwaysPublishes: Bool { stages.contains { $0.effects.contains(.publishes) && $0.entry?.when == nil } }

    /// The pipeline; nil where something that it needs is missing, which has been reported then.
    var pipeline: Pipeline? {
        guard let name, let inbox, let processed, let failed else { return nil }
        let entries = stages.compactMap(\.entry)
        guard !entries.isEmpty, entries.count == stages.count else { return nil }
        let telling = onFailure.compactMap(\.entry)
        guard telling.count == onFailure.count else { return nil }
        var pipeline = Pipeline(
            name: name.value, source: source, inbox: inbox.value, processed: processed.value, failed: failed.value,
            work: work?.value, trust: trust, match: match, ready: ready, onConflict: onConflict,
            order: order, activeJobs: activeJobs, activeBytes: activeBytes, retry: retry, durability: durability,
            minFree: minFree, stages: entries, onFailure: telling,
            definition: Definition(stages: stages.map { PipelineDefinition.fingerprint(of: $0.definition) }))
        (pipeline.processedTemplate, pipeline.failedTemplate) = (processedTemplate, failedTemplate)
        pipeline.declaration = declaration
        pipeline.formerly = formerly?.value
        pipeline.ownership = ownership
        pipeline.scan = scan
        pipeline.rights = rights
        pipeline.upload = upload
        (pipeline.fair, pipeline.priority, pipeline.limit) = (fair, priority, limit)
        (pipeline.weight, pipeline.hours, pipeline.keep) = (weight, hours, keep)
        return pipeline
    }
}

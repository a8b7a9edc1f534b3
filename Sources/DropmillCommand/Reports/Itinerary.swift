import Files
import PipelineEngine
import PipelineKit
import SystemPackage

/// What happens to a drop from its claim to its end, in words.
struct Itinerary {
    struct Step: Equatable {
        /// `claim`, a stage's kind, `success` or `failure`.
        let title: String
        let text: String
        var notes: [String] = []
        /// Target folders with placeholders filled in, by option name.
        var targets: [String: FilePath] = [:]
        var isSkipped = false
    }

    private(set) var steps: [Step] = []

    /// The steps for a file of this name. `now`: what `{date}` stands for; `{job}` is not known before the claim.
    init(of account: Explanation.Account, now: Timestamp) {
        let pipeline = account.pipeline
        let values = TemplateValues(
            name: account.name, folders: account.folders, pipeline: pipeline.name, job: "{job}", date: now)
        steps.append(
            Step(
                title: "claim", text: Self.readiness(pipeline.ready.holding(in: pipeline.inbox), of: account.name),
                notes: [Self.lane(of: pipeline)]))
        for stage in pipeline.stages { steps.append(Self.step(stage, account.name, values)) }
        steps.append(Step(title: "success", text: Self.success(pipeline, values)))
        let report = account.name.appending(".error.json", unique: "JOB").text
        steps.append(
            Step(
                title: "failure",
                text: "goes to \(Self.folder(pipeline.failed, pipeline.failedTemplate, values)), with the reason in "
                    + report))
    }

    static func readiness(_ rule: ReadyRule, of name: FileName) -> String {
        var conditions = ["it has been unchanged for \(rule.quiet.text)"]
        if rule.writers == .wait { conditions.append("no process has it open for writing") }
        if let marker = rule.marker {
            let place = rule.markerBeside == nil ? " in it" : ""
            conditions.append("its marker \(marker.name(for: name)?.text ?? marker.source) is there\(place)")
        }
        if let manifest = rule.manifest {
            conditions.append("everything that \(manifest.pattern) in it lists has arrived")
        }
        if rule.complete == .format { conditions.append("its content is complete, if its format shows that") }
        let list = conditions.dropLast().joined(separator: ", ")
        let whole = [list, conditions.last ?? ""].filter { !$0.isEmpty }.joined(separator: " and ")
        return "once \(whole)" + (rule.timeout.map { "; otherwise it fails after \($0.text)" } ?? "")
    }

    private static func lane(of pipeline: Pipeline) -> String {
        guard let hindrance = LaneRule.hindrance(of: pipeline) ?? LaneRule.farFolder(of: pipeline) else {
            return "up to \(LaneRule.largest), together with others (quick lane)"
        }
        return "by itself (no quick lane: \(hindrance))"
    }

    private static func step(_ stage: StageEntry, _ name: FileName, _ values: TemplateValues) -> Step {
        if let when = stage.when, !when.mayHold(for: name, in: values.folders) {
            return Step(title: stage.kind, text: "skipped: only for \(when.text)", isSkipped: true)
        }
        var step = Step(title: stage.kind, text: type(of: stage.stage).descriptor.summary)
        if let when = stage.when, when.looksDeeper { step.notes.append("only for \(when.text)") }
        for (option, template) in stage.targets.sorted(by: { $0.key < $1.key }) {
            do throws(TemplateProblem) {
                let path = try template.path(values)
                step.targets[option] = path
                step.notes.append("\(option): \(path.shortText)")
            } catch {
                step.notes.append("fails here: no folder name can be made from the drop's name: \(error.message)")
            }
        }
        return step
    }

    private static func folder(_ fixed: FilePath, _ template: PathTemplate?, _ values: TemplateValues) -> String {
        do throws(TemplateProblem) {
            return try template?.path(values).shortText ?? fixed.shortText
        } catch {
            return fixed.shortText
        }
    }

    private static func success(_ pipeline: Pipeline, _ values: TemplateValues) -> String {
        let publishes = pipeline.stages.contains { type(of: $0.stage).descriptor.effects.contains(.publishes) }
        let unless = publishes ? ", unless it was itself published" : ""
        switch pipeline.processed {
        case .folder(let path): return "goes to \(folder(path, pipeline.processedTemplate, values))\(unless)"
        case .delete: return "is deleted\(unless)"
        }
    }
}

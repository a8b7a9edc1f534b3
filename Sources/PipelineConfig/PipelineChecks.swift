import PipelineKit
import SystemPackage

/// Checks across valid values: folders that conflict, stages that lead
/// nowhere. It works on drafts, so that these problems are reported together with all others.
struct PipelineChecks {
    private(set) var problems: [ConfigProblem] = []
    /// The folders of all drafts.
    let index: FolderIndex
    /// What to add if no stage publishes: `'move: { to: … }'`.
    let publisher: String
    let resolved: FolderResolver

    /// Checks each draft alone, then against earlier ones that may conflict with it.
    static func problems(
        of drafts: [PipelineDraft], among kinds: StageRegistry, _ resolved: FolderResolver = FolderResolver()
    ) -> [ConfigProblem] {
        let publisher = kinds.remedy(for: .publishing).map { "'\($0.entry)'" } ?? "a stage that publishes"
        var checks = PipelineChecks(
            index: FolderIndex(of: drafts, resolved), publisher: publisher, resolved: resolved)
        for (index, draft) in drafts.enumerated() {
            checks.ownFolders(draft)
            checks.workFolder(draft)
            checks.publishing(draft)
            checks.deleting(draft)
            checks.targets(draft)
            checks.placesTaken(draft, of: drafts)
            checks.originals(draft, of: drafts)
            checks.defaultWorkFolder(draft)
            checks.overruled(draft)
            checks.formerly(draft, index, of: drafts)
            for other in checks.index.neighbours(before: index, named: draft.name?.value) {
                checks.together(draft, with: drafts[other])
            }
        }
        checks.chains(drafts)
        return checks.problems
    }

    mutating func report(_ message: String, _ draft: PipelineDraft, at position: SourcePosition) {
        problems.append(ConfigProblem(message, in: draft.source, at: position))
    }

    // MARK: One pipeline

    private mutating func ownFolders(_ draft: PipelineDraft) {
        if let inbox = draft.inbox {
            for (key, folder) in [("processed", draft.processedFolder), ("failed", draft.failed)] {
                guard let folder else { continue }
                guard let how = overlap(folder.value, inbox.value, key, "the inbox") else { continue }
                let isTemplate = (key == "failed" ? draft.failedTemplate : draft.processedTemplate) != nil
                report(
                    (isTemplate ? "the part before the first placeholder of \(how)" : how)
                        + "; give it a folder beside the inbox", draft, at: folder.position)
            }
        }
        if let processed = draft.processedFolder, let failed = draft.failed,
            resolved(processed.value) == resolved(failed.value),
            draft.processedTemplate?.template == draft.failedTemplate?.template
        {
            report("'failed' is the same folder as 'processed'; use two folders", draft, at: failed.position)
        }
    }

    private mutating func workFolder(_ draft: PipelineDraft) {
        guard let work = draft.work else { return }
        let folder = resolved(work.value)
        if let inbox = draft.inbox.map({ resolved($0.value) }), folder.overlaps(inbox),
            !folder.isHidden(in: inbox)
        {
            let how = overlap(work.value, draft.inbox?.value, "work", "the inbox") ?? ""
            report(
                "\(how), which is scanned; use a folder beside it, or a name that begins with '.'", draft,
                at: work.position)
        }
        for (key, other) in [("processed", draft.processedFolder), ("failed", draft.failed)] {
            guard let how = overlap(work.value, other?.value, "work", "'\(key)'") else { continue }
            report("\(how); claimed jobs need a folder of their own", draft, at: work.position)
        }
    }

    /// What a stage makes must be published by a later one, unless it does so itself.
    private mutating func publishing(_ draft: PipelineDraft) {
        // A stage that is not understood may be the one that publishes.
        guard draft.stages.allSatisfy({ $0.descriptor != nil }) else { return }
        let effects = draft.stages.map(\.effects)
        guard let last = effects.lastIndex(where: { $0.contains(.replacesPayload) }) else { return }
        guard !effects[last].contains(.publishes),
            !effects[(last + 1)...].contains(where: { !$0.isDisjoint(with: [.publishes, .publishesCopy]) })
        else {
            return
        }
        // An unknown kind may produce anything.
        guard draft.stages[last].entry != nil else { return }
        let kind = draft.stages[last].descriptor?.kind ?? ""
        report(
            "'\(kind)' makes files that no later stage publishes; add \(publisher) after it", draft,
            at: draft.stages[last].position)
    }

    /// A pipeline that publishes nothing and keeps no original only destroys data.
    private mutating func deleting(_ draft: PipelineDraft) {
        guard let processed = draft.processed, case .delete = processed.value, !draft.stages.isEmpty else { return }
        let publishing: Set<StageDescriptor.Effect> = [.publishes, .publishesCopy]
        guard draft.stages.allSatisfy({ $0.descriptor != nil }) else { return }
        if let first = draft.stages.firstIndex(where: { !$0.effects.isDisjoint(with: publishing) }) {
            guard let end = draft.stages[..<first].first(where: { $0.effects.contains(.ends) }) else { return }
            let kind = end.descriptor?.kind ?? ""
            return report(
                "'\(kind)' may end a job before any stage has published the drop, and 'processed' is "
                    + "'delete', so it would be destroyed; set 'processed' to a folder", draft, at: end.position)
        }
        report(
            "'processed' is 'delete' and no stage publishes anything, so every drop would be destroyed; add "
                + "\(publisher) or set 'processed' to a folder", draft, at: processed.position)
    }

    private mutating func targets(_ draft: PipelineDraft) {
        for (option, template) in draft.stages.flatMap(\.templates) {
            let source = template.value.template.source
            if source == "~" || source.hasPrefix("~/") {
                report("'\(option)': \(PipelineDecoder.tilde)", draft, at: template.position)
            }
            let target = template.value.fixedFolder
            guard let inbox = draft.inbox?.value else { continue }
            let (folder, watched) = (resolved(target), resolved(inbox))
            if folder == watched || folder.isInside(watched) {
                let how = folder == watched ? "is" : "is inside"
                report(
                    "'\(option)' \(how) the pipeline's own inbox, where it would be claimed again; use another folder",
                    draft,
                    at: template.position)
            }
        }
    }

    // MARK: Two pipelines

    /// A job can be taken over once, and from a pipeline that is gone.
    private mutating func formerly(_ draft: PipelineDraft, _ index: Int, of drafts: [PipelineDraft]) {
        guard let formerly = draft.formerly else { return }
        let name = formerly.value
        if name == draft.name?.value {
            report("'formerly' is the pipeline's own name; leave it out", draft, at: formerly.position)
        } else if let other = drafts.first(where: { $0.name?.value == name }) {
            report(
                "'formerly': the pipeline '\(name)' is still there, in \(other.source.text); remove it, or leave this "
                    + "out", draft, at: formerly.position)
        } else if let other = drafts[..<index].first(where: { $0.formerly?.value == name }) {
            report(
                "'formerly': the jobs of '\(name)' already go to the pipeline in \(other.source.text); leave one out",
                draft, at: formerly.position)
        }
    }

    /// One pipeline's processed, failed or output folder may be another's inbox: that is a chain.
    private mutating func together(_ draft: PipelineDraft, with other: PipelineDraft) {
        let there = "the pipeline in \(other.source.text)"
        if let name = draft.name, name.value == other.name?.value {
            report(
                "the name '\(name.value)' is already used by \(there); set another 'name:'", draft, at: name.position)
        }
        if let inbox = draft.inbox,
            let how = overlap(inbox.value, other.inbox?.value, "inbox", "the inbox of \(there)")
        {
            report("\(how); each pipeline needs an inbox of its own", draft, at: inbox.position)
        }
        if let work = draft.work,
            let how = overlap(work.value, other.work?.value, "work", "the work folder of \(there)")
        {
            report("\(how); each pipeline needs one of its own", draft, at: work.position)
        }
        workInInbox(of: draft, inbox: other.inbox?.value, there, at: draft.work?.position, work: draft.work?.value)
        workInInbox(of: draft, inbox: draft.inbox?.value, there, at: draft.inbox?.position, work: other.work?.value)
    }

    private mutating func workInInbox(
        of draft: PipelineDraft, inbox: FilePath?, _ there: String, at position: SourcePosition?, work: FilePath?
    ) {
        guard let inbox, let work, let position else { return }
        let (folder, watched) = (resolved(work), resolved(inbox))
        guard folder.overlaps(watched), !folder.isHidden(in: watched) else { return }
        report("a work folder and an inbox overlap (see \(there)); keep them apart", draft, at: position)
    }

    /// How two folders conflict, as the beginning of a sentence; nil if they do not.
    private func overlap(_ folder: FilePath, _ other: FilePath?, _ key: String, _ what: String) -> String? {
        guard let other else { return nil }
        let (left, right) = (resolved(folder), resolved(other))
        if left == right { return "'\(key)' is \(what)" }
        if left.isSame(as: right) { return "'\(key)' is \(what), by another mount" }
        if left.isInside(right) { return "'\(key)' is inside \(what)" }
        if right.isInside(left) { return "'\(key)' contains \(what)" }
        return nil
    }
}

import PipelineKit
import SystemPackage

/// Checks where stages publish against the folders that pipelines use.
extension PipelineChecks {
    /// A folder that a pipeline lives on.
    private struct Own {
        let what: String
        let folder: ResolvedFolder
    }

    /// Whatever is published must not land among claimed jobs; and where the payload may be a folder, it becomes the
    /// target itself, so no folder of any pipeline may be that target or inside it.
    ///
    /// For a target with placeholders this is: no such folder may have a name that the placeholders could spell. As
    /// `processed.zip` may come, `out/{stem}` excludes `out/processed`; `out/x-{stem}` does not.
    mutating func placesTaken(_ draft: PipelineDraft, of drafts: [PipelineDraft]) {
        let mayBeFolder =
            draft.ready.unit == .folder || draft.stages.contains { $0.effects.contains(.replacesPayload) }
        for (option, template) in draft.stages.flatMap(\.templates) {
            let fixed = resolved(template.value.fixedFolder)
            if ([fixed] + fixed.ancestors).contains(where: index.areas.contains) {
                report(
                    "'\(option)' is in a work folder, where claimed jobs live; use another folder", draft,
                    at: template.position)
            }
            guard !mayBeFolder || !placeOfFolderTaken(option, template, from: fixed, draft, of: drafts) else {
                continue
            }
            guard let end = ([fixed] + fixed.ancestors).first(where: index.ends.contains) else { continue }
            report(
                "'\(option)' is in '\(end.text)', where originals go; use a folder of its own", draft,
                at: template.position)
        }
    }

    /// Reports a published folder that would replace a pipeline's own.
    private mutating func placeOfFolderTaken(
        _ option: String, _ template: PipelineDraft.Placed<PathTemplate>, from fixed: ResolvedFolder,
        _ draft: PipelineDraft,
        of drafts: [PipelineDraft]
    ) -> Bool {
        if template.value.template.lastCanBeEmpty {
            report(
                "'\(option)' ends in a part that can be empty, and a folder would then replace the one above "
                    + "it; end it with '{stem}' or a fixed name", draft, at: template.position)
        }
        for own in folders(of: draft, among: drafts, from: fixed) {
            guard let how = template.value.template.takes(own.folder, from: fixed) else { continue }
            report(
                "'\(option)' \(how) \(own.what), and a published folder would replace it; use "
                    + "a folder of its own", draft, at: template.position)
            return true
        }
        return false
    }

    /// A drop's name must not lead its original into a pipeline's own folder.
    mutating func originals(_ draft: PipelineDraft, of drafts: [PipelineDraft]) {
        for (key, template, position) in [
            ("processed", draft.processedTemplate, draft.processed?.position),
            ("failed", draft.failedTemplate, draft.failed?.position),
        ] {
            guard let template, let position else { continue }
            let fixed = resolved(template.fixedFolder)
            let own = [draft.processedFolder?.value, draft.failed?.value].compactMap { $0.map { resolved($0) } }
            // Already reported.
            if let inbox = draft.inbox, resolved(inbox.value).overlaps(fixed) { continue }
            let taken = folders(of: draft, among: drafts, from: fixed).first { folder in
                !own.contains(folder.folder) && template.template.takes(folder.folder, from: fixed) != nil
            }
            guard let taken else { continue }
            report("'\(key)' can become or contain \(taken.what); use a folder of its own", draft, at: position)
        }
    }

    /// The folders there or below: the draft's own first, then those of other pipelines.
    private func folders(
        of draft: PipelineDraft, among drafts: [PipelineDraft], from fixed: ResolvedFolder
    ) -> [Own] {
        func folders(_ one: Int, _ suffix: String) -> [Own] {
            let own = index.folders[one]
            let all = [
                ("the inbox", own.inbox), ("'processed'", own.processed), ("'failed'", own.failed),
                ("the work folder", own.area),
            ]
            return all.compactMap { what, folder in folder.map { Own(what: what + suffix, folder: $0) } }
        }
        let near = index.owners(atOrBelow: fixed)
        let own = near.filter { drafts[$0].source == draft.source }
        let others = near.filter { drafts[$0].source != draft.source }
        return own.flatMap { folders($0, "") }
            + others.flatMap { folders($0, " of the pipeline in \(drafts[$0].source.text)") }
    }

    /// The default work folder conflicts just like a configured one.
    mutating func defaultWorkFolder(_ draft: PipelineDraft) {
        guard draft.work == nil, let area = draft.workArea.map({ resolved($0) }) else { return }
        for (key, folder) in [("processed", draft.processedFolder), ("failed", draft.failed)] {
            guard let folder else { continue }
            let resolved = resolved(folder.value)
            guard resolved == area || resolved.isInside(area) else { continue }
            report(
                "'\(key)' is in '.dropmill' beside the inbox, where claimed jobs live; use another folder", draft,
                at: folder.position)
        }
    }

    /// If two stages publish the same drops the last one counts, so the first would have no effect.
    mutating func overruled(_ draft: PipelineDraft) {
        let publishing = draft.stages.filter { $0.effects.contains(.publishes) }
        for (index, stage) in publishing.enumerated() {
            guard let entry = stage.entry else { continue }
            let isOverruled = publishing[(index + 1)...].compactMap(\.entry).contains { later in
                later.when == nil || later.when == entry.when
            }
            guard isOverruled else { continue }
            report(
                "a later stage publishes the same drops elsewhere, so this '\(entry.kind)' does nothing; remove one, "
                    + "or give each a 'when' of its own", draft, at: stage.position)
        }
    }
}

extension PipelineDraft {
    /// Where claimed jobs of this pipeline live: `work`, else the folder that holds all default ones.
    /// (Inside an inbox that is a mount point nothing else may be anyway.)
    var workArea: FilePath? { work?.value ?? inbox?.value.defaultWorkArea }
}

extension FilePath {
    /// The folder beside this inbox that holds all default work folders.
    var defaultWorkArea: FilePath { absolute.removingLastComponent().appending(".dropmill") }
}

extension Template {
    /// How a published folder conflicts with this folder; nil if it does not.
    fileprivate func takes(_ folder: ResolvedFolder, from fixed: ResolvedFolder) -> String? {
        if isFixed { return folder == fixed ? "is" : folder.isInside(fixed) ? "contains" : nil }
        guard var below = folder.path(below: fixed) else { return nil }
        while !below.isEmpty {
            if canBecome(below) { return "can become or contain" }
            below.removeLastComponent()
        }
        return nil
    }
}

import PipelineKit
import SystemPackage

/// Pipelines may be chained by their folders, as long as every drop comes to an end.
extension PipelineChecks {
    /// One pipeline's folder that is another's inbox.
    private struct Link {
        let key: String
        let position: SourcePosition
        let next: Int
    }

    /// Refuses loops, and failure reports and lists that would become drops.
    mutating func chains(_ drafts: [PipelineDraft]) {
        let links = drafts.indices.map { self.links(from: $0, drafts[$0]) }
        for (index, draft) in drafts.enumerated() {
            for link in links[index] where Self.leads(from: link.next, to: index, links) {
                report(
                    "'\(link.key)' is the inbox of the pipeline in \(drafts[link.next].source.text), from which drops "
                        + "return here in a loop; use a folder that no pipeline watches", draft,
                    at: link.position)
            }
            reportLists(of: index, draft, drafts)
            reportKept(of: index, draft, drafts)
            guard let failed = draft.failed, let folder = self.index.folders[index].failed else { continue }
            for other in self.index.pipelines(withInbox: folder) where other != index {
                report(
                    "'failed' is the inbox of the pipeline in \(drafts[other].source.text), which would treat "
                        + "the reports (NAME.error.json) as drops; use a folder that no pipeline watches", draft,
                    at: failed.position)
            }
        }
    }

    /// What another pipeline has yet to take is not to go.
    private mutating func reportKept(of index: Int, _ draft: PipelineDraft, _ drafts: [PipelineDraft]) {
        guard let keep = draft.keep else { return }
        let folders = self.index.folders[index]
        let kept = [
            ("processed", keep.processed == nil ? nil : folders.processed, draft.processedFolder?.position),
            ("failed", keep.failed == nil ? nil : folders.failed, draft.failed?.position),
        ]
        for (key, folder, position) in kept {
            guard let folder, let position else { continue }
            for next in drafts.indices where next != index {
                guard let inbox = self.index.folders[next].inbox, inbox.overlaps(folder) else { continue }
                report(
                    "'keep.\(key)' would remove drops before the pipeline in \(drafts[next].source.text) takes them, "
                        + "whose inbox '\(key)' is; leave it out, and say there what is to be kept", draft,
                    at: position)
            }
        }
    }

    /// Lists in or below the inbox of another pipeline would be drops there.
    private mutating func reportLists(of index: Int, _ draft: PipelineDraft, _ drafts: [PipelineDraft]) {
        guard let list = draft.lists.first else { return }
        var targets = draft.stages.flatMap(\.templates).map {
            (key: $0.option, position: $0.template.position, folder: resolved($0.template.value.fixedFolder))
        }
        // A payload that is always published elsewhere is not what goes to processed.
        if !draft.alwaysPublishes, let processed = draft.processedFolder,
            let folder = self.index.folders[index].processed
        {
            targets.append((key: "processed", position: processed.position, folder: folder))
        }
        for target in targets {
            for above in [target.folder] + target.folder.ancestors {
                for next in self.index.pipelines(withInbox: above) where next != index {
                    report(
                        "'\(target.key)' is in the inbox of the pipeline in \(drafts[next].source.text), which would "
                            + "treat the list '\(list)' as a drop; use a folder that no pipeline watches, or leave "
                            + "'into: list' out",
                        draft, at: target.position)
                }
            }
        }
    }

    private func links(from index: Int, _ draft: PipelineDraft) -> [Link] {
        var links: [Link] = []
        func add(_ key: String, _ position: SourcePosition, _ folder: ResolvedFolder) {
            for next in self.index.pipelines(withInbox: folder) where next != index {
                links.append(Link(key: key, position: position, next: next))
            }
        }
        if let processed = draft.processedFolder, let folder = self.index.folders[index].processed {
            add("processed", processed.position, folder)
        }
        for (option, target) in draft.stages.flatMap(\.templates) where target.value.template.isFixed {
            add(option, target.position, resolved(target.value.fixedFolder))
        }
        return links.sorted { $0.next < $1.next }
    }

    private static func leads(from start: Int, to end: Int, _ links: [[Link]]) -> Bool {
        var seen: Set<Int> = []
        var pending = [start]
        while let next = pending.popLast() {
            if next == end { return true }
            if seen.insert(next).inserted { pending += links[next].map(\.next) }
        }
        return false
    }
}

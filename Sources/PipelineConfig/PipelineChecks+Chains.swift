import PipelineKit
import SystemPackage

/// Pipelines may be chained by their folders, as long as every drop comes to an end.
extension PipelineChecks {
    /// One pipeline's folder that another one's drops come from.
    private struct Link {
        let key: String
        let position: SourcePosition
        let next: Int
    }

    /// Refuses circles, and reports of failures that would be drops.
    mutating func chains(_ drafts: [PipelineDraft]) {
        let inboxes = drafts.map { draft in draft.inbox.map { ResolvedFolder($0.value) } }
        let links = drafts.indices.map { Self.links(from: $0, drafts[$0], to: inboxes) }
        for (index, draft) in drafts.enumerated() {
            for link in links[index] where Self.leads(from: link.next, to: index, links) {
                report(
                    "'\(link.key)' is the inbox of the pipeline of \(drafts[link.next].source.text), from which drops "
                        + "come back here, round and round; use a folder that nobody watches", draft,
                    at: link.position)
            }
            guard let failed = draft.failed else { continue }
            let folder = ResolvedFolder(failed.value)
            for (other, inbox) in inboxes.enumerated() where other != index && inbox == folder {
                report(
                    "'failed' is the inbox of the pipeline of \(drafts[other].source.text), which would take the "
                        + "reports (NAME.error.json) for drops; use a folder that nobody watches", draft,
                    at: failed.position)
            }
        }
    }

    private static func links(from index: Int, _ draft: PipelineDraft, to inboxes: [ResolvedFolder?]) -> [Link] {
        var links: [Link] = []
        for (next, inbox) in inboxes.enumerated() where next != index {
            guard let inbox else { continue }
            if let processed = draft.processedFolder, ResolvedFolder(processed.value) == inbox {
                links.append(Link(key: "processed", position: processed.position, next: next))
            }
            for (option, target) in draft.stages.flatMap(\.templates)
            where target.value.template.isFixed && ResolvedFolder(target.value.fixedFolder) == inbox {
                links.append(Link(key: option, position: target.position, next: next))
            }
        }
        return links
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

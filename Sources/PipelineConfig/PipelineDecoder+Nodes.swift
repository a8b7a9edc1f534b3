import PipelineKit

extension PipelineDecoder {
    /// What only one daemon can keep to, in words and with where it is said.
    func solitary(_ map: OptionMap, _ draft: PipelineDraft) -> [PipelineDraft.Placed<String>] {
        var found: [PipelineDraft.Placed<String>] = []
        func add(_ key: String, _ value: String) {
            guard let entry = map.given(key) else { return }
            found.append(PipelineDraft.Placed(value: "\(key): \(value)", position: entry.position))
        }
        if draft.order != .arrival { add("order", draft.order.rawValue) }
        if draft.onConflict != .rename { add("on_conflict", draft.onConflict.rawValue) }
        for stage in draft.stages where stage.entry.map({ !$0.stage.lists.isEmpty }) ?? false {
            let kind = stage.entry?.kind ?? ""
            found.append(PipelineDraft.Placed(value: "\(kind): { into: list }", position: stage.position))
        }
        return found
    }
}

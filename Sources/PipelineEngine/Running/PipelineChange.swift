package import PipelineKit

/// What a reload made of one pipeline.
package struct PipelineChange: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case unchanged
        /// What of it, in words: `order`, `stages 3 to 4`.
        case changed([String])
        case added
        /// How many of its jobs are not over.
        case removed(unfinished: Int)
        /// Its jobs go on as those of that one.
        case takenOver(by: String)
    }

    package let pipeline: String
    package let kind: Kind

    package init(_ pipeline: String, _ kind: Kind) { (self.pipeline, self.kind) = (pipeline, kind) }

    /// In a word, or a few: `changed (order, quiet)`.
    package var text: String {
        switch kind {
        case .unchanged: "unchanged"
        case .changed(let what): "changed (\(what.joined(separator: ", ")))"
        case .added: "added"
        case .takenOver(let other): "taken over by '\(other)'"
        case .removed(0): "removed"
        case .removed(let unfinished): "removed (\(unfinished) unfinished)"
        }
    }
}

extension PipelineChange {
    /// Compares what is loaded with what is to be: in the new order, then those that are removed. Pure.
    package static func changes(from old: [Pipeline], to new: [Pipeline]) -> [PipelineChange] {
        let before = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
        let names = Set(new.map(\.name))
        return new.map { pipeline in
            guard let known = before[pipeline.name] else { return PipelineChange(pipeline.name, .added) }
            let what = pipeline.differences(from: known)
            return PipelineChange(pipeline.name, what.isEmpty ? .unchanged : .changed(what))
        }
            + old.filter { !names.contains($0.name) }.map { gone in
                let heir = new.first { $0.formerly == gone.name }?.name
                return PipelineChange(gone.name, heir.map { .takenOver(by: $0) } ?? .removed(unfinished: 0))
            }
    }
}

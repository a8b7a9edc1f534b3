/// What a pipeline's file says, key by key, in a form that is equal for whatever means the same.
package struct Declaration: Sendable, Hashable {
    /// The values of keys, those of `ready` among them.
    package var keys: [String: String]
    /// The stages, with all of their options.
    package var stages: [String]

    package init(keys: [String: String] = [:], stages: [String] = []) { (self.keys, self.stages) = (keys, stages) }

    /// What is not the same in another one, in words.
    func differences(from old: Declaration) -> [String] {
        let names = Set(keys.keys).union(old.keys.keys).filter { keys[$0] != old.keys[$0] }.sorted()
        return names + [stageDifference(from: old.stages)].compactMap { $0 }
    }

    /// `stages 3 to 4`: from the first to the last that is not the same, as they are counted now; nil where all are.
    private func stageDifference(from old: [String]) -> String? {
        guard stages != old else { return nil }
        let same = zip(stages, old).prefix { $0 == $1 }.count
        let rest = zip(stages.dropFirst(same).reversed(), old.dropFirst(same).reversed()).prefix { $0 == $1 }.count
        let last = max(stages.count - rest, same + 1)
        return last == same + 1 ? "stage \(last)" : "stages \(same + 1) to \(last)"
    }
}

extension Pipeline {
    /// What is not the same in an earlier reading, in words; nothing where both are alike in all that they do.
    package func differences(from old: Pipeline) -> [String] {
        var found = declaration.differences(from: old.declaration)
        // What a relative path means, what messages name, and what other pipelines say of shared folders.
        if source != old.source { found.append("file") }
        if lists != old.lists || listsInFailed != old.listsInFailed { found.append("lists") }
        if found.isEmpty, definition != old.definition { found.append("stages") }
        return found
    }
}

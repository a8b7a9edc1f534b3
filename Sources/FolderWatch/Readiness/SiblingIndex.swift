import PipelineKit

/// What lies beside the drops of an inbox and says that they are not done. Pure; costs nothing where nothing does.
struct SiblingIndex {
    private var siblings: [DropPath: [FileName]] = [:]

    /// A name lies beside a drop; whether that is news.
    mutating func appeared(_ sibling: FileName, beside drop: DropPath) -> Bool {
        guard siblings[drop]?.contains(sibling) != true else { return false }
        siblings[drop, default: []].append(sibling)
        return true
    }

    /// It is gone.
    mutating func vanished(_ sibling: FileName, beside drop: DropPath) {
        siblings[drop]?.removeAll { $0 == sibling }
        if siblings[drop]?.isEmpty ?? false { siblings[drop] = nil }
    }

    /// Those that hold back a drop.
    func beside(_ drop: DropPath) -> [FileName] { siblings.isEmpty ? [] : siblings[drop] ?? [] }
}

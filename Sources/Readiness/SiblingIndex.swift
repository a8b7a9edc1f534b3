import Files

/// The siblings in an inbox that mark drops as unfinished. Pure; costs nothing without any.
struct SiblingIndex {
    private var siblings: [DropPath: [FileName]] = [:]

    /// A sibling appeared beside a drop; returns whether it is new.
    mutating func appeared(_ sibling: FileName, beside drop: DropPath) -> Bool {
        guard siblings[drop]?.contains(sibling) != true else { return false }
        siblings[drop, default: []].append(sibling)
        return true
    }

    mutating func vanished(_ sibling: FileName, beside drop: DropPath) {
        siblings[drop]?.removeAll { $0 == sibling }
        if siblings[drop]?.isEmpty ?? false { siblings[drop] = nil }
    }

    func beside(_ drop: DropPath) -> [FileName] { siblings.isEmpty ? [] : siblings[drop] ?? [] }
}

/// Finds the known word that an unknown one was meant to be.
package enum Suggestion {
    /// The candidate nearest to the word, if it is near enough to be a slip: at most a third of its letters (at least
    /// one) changed, added, left out or swapped, whatever the case.
    package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let lowered = Array(word.lowercased())
        var best: (distance: Int, candidate: String)?
        for candidate in candidates {
            let other = Array(candidate.lowercased())
            let distance = other.starts(with: lowered) && lowered.count >= 3 ? 1 : edits(lowered, other)
            guard distance <= max(1, max(lowered.count, other.count) / 3) else { continue }
            if distance < best?.distance ?? .max { best = (distance, candidate) }
        }
        return best?.candidate
    }

    /// `; did you mean 'algorithm'?`, or nothing.
    package static func hint(for word: String, among candidates: some Sequence<String>) -> String {
        nearest(to: word, among: candidates).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// The same; where none is near what there is, `; there are: 'a', 'b'`.
    package static func hint(for word: String, orListing candidates: [String]) -> String {
        let hint = hint(for: word, among: candidates)
        guard hint.isEmpty, !candidates.isEmpty else { return hint }
        let some = candidates.prefix(10).map { "'\($0)'" }.joined(separator: ", ")
        return "; there \(candidates.count == 1 ? "is" : "are") \(some)" + (candidates.count > 10 ? ", …" : "")
    }

    /// Edits between two words, a swap of neighbours counting as one (optimal string alignment).
    private static func edits(_ left: [Character], _ right: [Character]) -> Int {
        var before: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var line = [row + 1]
            for column in right.indices {
                let substitution = last[column] + (left[row] == right[column] ? 0 : 1)
                var cost = min(substitution, last[column + 1] + 1, line[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, before[column - 1] + 1)
                }
                line.append(cost)
            }
            before = last
            last = line
        }
        return last[right.count]
    }
}

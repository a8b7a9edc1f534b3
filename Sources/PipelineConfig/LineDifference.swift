/// What differs between two texts, line by line: a longest common subsequence, as long as it is cheap.
enum LineDifference {
    enum Step: Equatable {
        /// The lines of both, by their numbers from zero on.
        case same(Int, Int)
        case old(Int)
        case new(Int)
    }

    /// Pairs of lines that are compared at most, without those at both ends that are the same. Beyond that all
    /// between the ends counts as replaced.
    private static let mostPairs = 1 << 20

    static func steps<Line: Hashable>(from old: [Line], to new: [Line]) -> [Step] {
        let shorter = min(old.count, new.count)
        let head = (0..<shorter).first { old[$0] != new[$0] } ?? shorter
        let tail =
            (0..<shorter - head).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] } ?? shorter - head
        let (oldEnd, newEnd) = (old.count - tail, new.count - tail)
        let between = between(old[head..<oldEnd], new[head..<newEnd])
        return (0..<head).map { .same($0, $0) } + between + (0..<tail).map { .same(oldEnd + $0, newEnd + $0) }
    }

    private static func between<Line: Hashable>(_ old: ArraySlice<Line>, _ new: ArraySlice<Line>) -> [Step] {
        let (pairs, isMuch) = old.count.multipliedReportingOverflow(by: new.count)
        guard !old.isEmpty, !new.isEmpty, !isMuch, pairs <= mostPairs else {
            return old.indices.map { .old($0) } + new.indices.map { .new($0) }
        }
        // How many lines the rests behind each pair have in common.
        let width = new.count + 1
        var common = [Int32](repeating: 0, count: (old.count + 1) * width)
        for row in (0..<old.count).reversed() {
            for column in (0..<new.count).reversed() {
                let place = row * width + column
                common[place] =
                    old[old.startIndex + row] == new[new.startIndex + column]
                    ? common[place + width + 1] + 1 : max(common[place + width], common[place + 1])
            }
        }
        var steps: [Step] = []
        var (row, column) = (0, 0)
        while row < old.count || column < new.count {
            let (this, that) = (old.startIndex + row, new.startIndex + column)
            if row < old.count, column < new.count, old[this] == new[that] {
                steps.append(.same(this, that))
                (row, column) = (row + 1, column + 1)
            } else if column == new.count
                || row < old.count && common[(row + 1) * width + column] >= common[row * width + column + 1]
            {
                steps.append(.old(this))
                row += 1
            } else {
                steps.append(.new(that))
                column += 1
            }
        }
        return steps
    }
}

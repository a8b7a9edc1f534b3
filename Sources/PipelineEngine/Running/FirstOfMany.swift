/// The first of many, in order, with no more than twice as many at hand.
struct FirstOfMany<Element: Comparable & Sendable>: Sendable {
    private let after: Element?
    private let limit: Int
    private var kept: [Element] = []

    init(_ limit: Int, after: Element?) { (self.limit, self.after) = (max(0, limit), after) }

    mutating func add(_ element: Element) {
        if let after, element <= after { return }
        kept.append(element)
        if kept.count / 2 > limit { cut() }
    }

    /// Those, and whether there are more.
    mutating func page() -> (elements: ArraySlice<Element>, hasMore: Bool) {
        cut()
        return (kept.prefix(limit), kept.count > limit)
    }

    private mutating func cut() {
        kept.sort()
        kept.removeLast(max(0, kept.count - limit - 1))
    }
}

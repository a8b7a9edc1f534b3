/// What waits to be told. It is merged and never queued, so that a slow listener costs no memory.
protocol Merging: Sendable {
    associatedtype Told: Sendable
    init()
    /// What there is to tell now, which is over then; nil for nothing.
    mutating func take() -> Told?
}

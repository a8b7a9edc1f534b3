/// Something that comes by several requests.
protocol ComingFolder: Sendable {
    /// Nobody guesses it.
    var id: String { get }
    /// Nothing is left of it, unless it is finished.
    func close()
}

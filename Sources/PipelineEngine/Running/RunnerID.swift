/// Which runner of a pipeline: a changed pipeline gets one of the next generation, while the last one ends what it has.
struct RunnerID: Hashable, Sendable {
    let name: String
    let generation: Int

    var next: RunnerID { RunnerID(name: name, generation: generation + 1) }
}

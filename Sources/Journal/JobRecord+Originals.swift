extension JobRecord {
    /// What says that its original is not where it was left any more; nil where nothing does.
    package var originalEnd: Transition? {
        history.last { [Transition.pruned, Transition.originalGone].contains($0.event) }
    }
}

/// What became of a job that was to be called off.
package enum CallingOff: Sendable, Equatable {
    /// It settles into `failed`.
    case settles
    /// Its stage is being called off; then it settles.
    case stops(stage: String)
    /// It is being settled.
    case tooLate
    /// No pipeline that is loaded has it at work.
    case unknown
}

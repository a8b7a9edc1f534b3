/// What `Failure` is called by programs that have stages of their own.
public typealias StageFailure = Failure

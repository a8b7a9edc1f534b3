/// What a job ends with that a person has ended.
extension Failure {
    package static let cancelCode = "operator.cancelled"
    package static let releaseCode = "operator.released"

    /// A person called the job off.
    package static func calledOff(by person: String) -> Failure {
        .file(
            cancelCode, "The job was cancelled by \(person).",
            remedy: "If it is wanted after all, send it in again with 'dropmill retry'.")
    }

    /// A person sent the drop back to its inbox: the job is over, and nothing of it has failed.
    package static func released(by person: String) -> Failure {
        .file(
            releaseCode, "The job was released by \(person): its drop went back to the inbox.",
            remedy: "It is a new job once it is claimed there.")
    }

    package var isCancel: Bool { code == Self.cancelCode }
    package var isRelease: Bool { code == Self.releaseCode }
}

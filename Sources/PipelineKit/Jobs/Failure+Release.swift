/// What a released job ends with: it is over, and nothing of it has failed.
extension Failure {
    package static let releaseCode = "operator.released"

    /// A person sent the drop back to its inbox.
    package static func released(by person: String) -> Failure {
        .file(
            releaseCode, "The job was released by \(person): its drop went back to the inbox.",
            remedy: "It is a new job once it is claimed there.")
    }

    package var isRelease: Bool { code == Self.releaseCode }
}

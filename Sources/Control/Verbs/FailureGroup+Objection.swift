package import Journal

extension FailureGroup {
    /// Codes of drops that each want a look before they go in once more.
    private static let objections = [
        "scan.infected": "What is infected stays so: look at each before you send it in again."
    ]

    /// Why its jobs are not to be sent in again all together; nil where they may be.
    package var objection: String? { Self.objections[code] }
}

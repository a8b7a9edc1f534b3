/// Changes that people made, newest first.
enum AuditVerb: ControlVerb {
    static let name = "audit"
    static let patience = JobsVerb.patience

    typealias Answer = RecordPage

    struct Arguments: Codable, Equatable {
        /// Made since then: nanoseconds since 1970.
        var since: Int64?
        var limit: Int?
        /// How many of the first are left out.
        var skip: Int?
    }
}

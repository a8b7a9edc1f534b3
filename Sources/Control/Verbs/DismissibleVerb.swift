/// What `dismiss` would take out of the count of failures.
package enum DismissibleVerb: ControlVerb {
    package static let name = "dismissible"
    /// Many jobs may be read.
    package static let patience = 60

    package typealias Arguments = SendingOrder

    package struct Answer: Codable, Equatable, Sendable {
        /// How many jobs, of which size, and the first names.
        package var found: JobSummary
        /// Whether there are more than are dismissed at once.
        package var more: Bool
        /// With which these are dismissed and no others.
        package var key: String?

        package init(found: JobSummary, more: Bool) { (self.found, self.more) = (found, more) }
    }
}

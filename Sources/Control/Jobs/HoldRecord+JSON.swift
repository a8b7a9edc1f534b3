package import Journal
package import PipelineKit

extension HoldRecord {
    /// The keys of one object: `kind`, `by`, `uid`, `since`, `until`, `reason`, `node`.
    package func write(_ json: inout JSONText) {
        json.text("kind", kind.rawValue)
        json.text("by", by)
        json.integer("uid", Int(user))
        json.text("since", since.iso8601)
        if let until { json.text("until", until.iso8601) }
        if !reason.isEmpty { json.text("reason", reason) }
        if let node { json.text("node", node) }
    }
}

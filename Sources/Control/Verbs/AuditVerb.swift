import Files
package import Journal

/// Changes that people made, newest first.
package enum AuditVerb: ControlVerb {
    package static let name = "audit"
    package static let patience = JobsVerb.patience

    package typealias Answer = RecordPage

    package struct Arguments: Codable, Equatable, Sendable {
        /// Made since then: nanoseconds since 1970.
        package var since: Int64?
        /// With lower numbers: behind the last one of the page before.
        package var before: Int64?
        /// By this user: a name or a number, or the name of whom it was for.
        package var user: String?
        /// As people type it.
        package var verb: String?
        /// What occurs in it.
        package var text: String?
        package var limit: Int?

        package init(
            since: Int64? = nil, before: Int64? = nil, user: String? = nil, verb: String? = nil, text: String? = nil,
            limit: Int? = nil
        ) {
            self.since = since
            self.before = before
            self.user = user
            self.verb = verb
            self.text = text
            self.limit = limit
        }

        /// As one is asked for that `query` makes.
        package init(_ query: AuditQuery) {
            let kind = query.with.map { String($0.dropFirst(AuditQuery.kind.count).dropLast()) }
            self.init(
                since: query.since?.nanoseconds, before: query.before, user: query.user,
                verb: query.without == nil ? kind ?? query.verb : "resume", text: query.text)
        }

        /// `limit`: how many.
        package func query(limit: Int) -> AuditQuery {
            var query = AuditQuery(since: since.map { Timestamp(nanoseconds: $0) }, before: before, limit: limit)
            (query.user, query.text) = (user, text)
            query.choose(verb: verb)
            return query
        }
    }
}

extension AuditQuery {
    /// Only changes by a verb as people type it: three of them are one on record.
    package mutating func choose(verb: String?) {
        (self.verb, with, without) = (verb, nil, nil)
        guard let verb, ["pause", "drain", "resume"].contains(verb) else { return }
        self.verb = HoldVerb.name
        if verb == "resume" { without = Self.kind } else { with = "\(Self.kind)\(verb)\"" }
    }

    /// As it stands in the arguments of `hold`.
    fileprivate static let kind = #""kind":""#
}

package import PipelineKit

extension JSONText {
    /// A time line, as `show --json` and the page have it: times by RFC 3339, durations in seconds; what is not known
    /// is left out.
    package mutating func timeLine(_ key: String, _ timeLine: TimeLine) {
        object(key) { json in
            if let time = timeLine.firstSeen { json.text("first_seen", time.iso8601) }
            json.array("held") { json in
                for hold in timeLine.held {
                    json.object { json in
                        json.text("code", hold.code)
                        json.text("text", hold.text)
                        json.text("from", hold.from.iso8601)
                        json.seconds("for_s", hold.time)
                    }
                }
            }
            json.array("rows") { json in
                for row in timeLine.rows { json.row(row) }
            }
        }
    }

    private mutating func row(_ row: TimeLine.Row) {
        object { json in
            if case .stage(let stage) = row.place { json.integer("stage", stage) }
            json.text("kind", row.kind)
            if case .onFailure = row.place { json.flag("on_failure", true) }
            if row.isSkipped { json.flag("skipped", true) }
            json.array("spans") { json in
                for span in row.spans { json.span(span) }
            }
        }
    }

    private mutating func span(_ span: TimeLine.Span) {
        object { json in
            json.text("kind", span.kind.rawValue)
            json.text("from", span.from.iso8601)
            if let to = span.to { json.text("to", to.iso8601) }
            if let time = span.time { json.seconds("for_s", time) }
            if let attempt = span.attempt { json.integer("attempt", attempt) }
            if let outcome = span.outcome { json.text("outcome", outcome.rawValue) }
            if let text = span.text, !text.isEmpty { json.text("text", text) }
        }
    }
}

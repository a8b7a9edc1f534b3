package import Files
import PipelineKit

/// A message that is to be sent: a row of the outbox.
package struct Notice: Sendable, Equatable {
    /// What the other side knows it by, also where it is sent twice.
    package let id: String
    /// The rule that it is sent by.
    package var rule: String
    /// What it is about: the event, and the pipeline; empty where it is about the daemon.
    package let event: String
    package let pipeline: String
    /// What became of that.
    package let state: State
    /// How many of the event it is about.
    package let count: UInt64
    package let title: String
    package let text: String
    /// Since when it is to be sent.
    package let since: Timestamp
    /// How often that was tried.
    package var tries: Int
    /// When it is tried next.
    package var next: Timestamp

    /// Whether what it is about is trouble, or over.
    package enum State: String, Sendable, CaseIterable {
        /// It has happened.
        case happened
        /// It goes on.
        case begun
        /// It is over.
        case over
        /// Nothing has happened.
        case test
    }

    package init(
        id: String = newID(), rule: String, event: String, pipeline: String, state: State, count: UInt64 = 1,
        title: String, text: String, since: Timestamp, tries: Int = 0, next: Timestamp? = nil
    ) {
        (self.id, self.rule, self.event, self.pipeline) = (id, rule, event, pipeline)
        (self.state, self.count) = (state, count)
        (self.title, self.text) = (Self.cut(title, Self.longestTitle), Self.cut(text, Self.longestText))
        (self.since, self.tries, self.next) = (since, tries, next ?? since)
    }

    /// Bytes of a text: ntfy makes an attachment of one that has more than 4096, and rows are to be bounded. And of a
    /// title, which goes into a line of a head.
    private static let longestText = 3900, longestTitle = 300

    /// Not within a scalar. A character may have any number of them.
    private static func cut(_ text: String, _ longest: Int) -> String {
        let mark = "…"
        guard text.utf8.count > longest else { return text }
        var (scalars, bytes) = (String.UnicodeScalarView(), mark.utf8.count)
        for scalar in text.unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= longest else { break }
            scalars.append(scalar)
        }
        return String(scalars) + mark
    }

    package static func newID() -> String {
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
        return digits.map { String(repeating: "0", count: 16 - $0.count) + $0 }.joined()
    }

    /// What the journal keeps of it as text.
    package var content: String {
        var json = JSONText()
        json.object { json in
            json.text("state", state.rawValue)
            json.integer("count", count)
            json.text("title", title)
            json.text("text", text)
        }
        return json.string
    }

    /// Nil where the content is none.
    package init?(
        id: String, rule: String, event: String, pipeline: String, content: String, since: Timestamp, tries: Int,
        next: Timestamp
    ) {
        guard let members = JSONValue(content)?.object, let state = State(rawValue: members["state"]?.string ?? ""),
            let count: UInt64 = members["count"]?.integer(), let title = members["title"]?.string,
            let text = members["text"]?.string
        else { return nil }
        self.init(
            id: id, rule: rule, event: event, pipeline: pipeline, state: state, count: count, title: title, text: text,
            since: since, tries: tries, next: next)
    }
}

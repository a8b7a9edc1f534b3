import Files
import PipelineKit

/// Times of a query: how long ago (`24h`, `7d`), or a date.
enum TimeFilter {
    static func read(_ name: String, _ query: Query, at now: Timestamp = .now()) throws(Problem) -> Timestamp? {
        guard let text = try query.text(name) else { return nil }
        guard let time = Timestamp(past: text, at: now) else {
            throw .badQuery(
                name, "'\(EscapedText.of(text))' is no time",
                remedy: "Write how long ago (2h, 7d) or a date (2026-11-01, 2026-11-01T14:30, 2026-11-01T13:30:00Z).")
        }
        return time
    }
}

import Files
import FoundationEssentials

/// What is wrong with a body, in a sentence without its full stop.
enum JSONFault {
    static func text(_ error: any Error) -> String {
        func path(_ keys: [any CodingKey]) -> String {
            "'\(EscapedText.of(keys.map(\.stringValue).joined(separator: ".")))'"
        }
        switch error {
        case DecodingError.keyNotFound(let key, let context): return "\(path(context.codingPath + [key])) is missing"
        case DecodingError.typeMismatch(_, let context) where context.codingPath.isEmpty: return "the body is no object"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            return "\(path(context.codingPath)) is of another type"
        case DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
            return "\(path(context.codingPath)) has a value that it cannot have"
        default: return "the body is no JSON"
        }
    }
}

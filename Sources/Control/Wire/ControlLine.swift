import Files
import FoundationEssentials

/// One line of JSON, with the newline.
package enum ControlLine {
    /// The protocol's. It is another one where a client of the one cannot be served by the other.
    package static let version = 2
    /// The longest request, in bytes.
    package static let longestRequest = 256 << 10
    /// The longest reply, in bytes.
    package static let longestReply = 8 << 20

    package static func bytes(of message: some Encodable) -> [UInt8] {
        do {
            return try Array(encoder.encode(message)) + [UInt8(ascii: "\n")]
        } catch {
            return Array(#"{"version":\#(version),"problem":"the answer cannot be encoded"}"#.utf8)
                + [UInt8(ascii: "\n")]
        }
    }

    /// The message of a line, or nil where it makes no sense.
    package static func message<Message: Decodable>(_ type: Message.Type, of line: [UInt8]) -> Message? {
        do { return try JSONDecoder().decode(type, from: Data(line)) } catch { return nil }
    }

    /// What is wrong with a line that makes no sense as one; nil where it does.
    package static func fault<Message: Decodable>(_ type: Message.Type, of line: [UInt8]) -> String? {
        func path(_ keys: [any CodingKey]) -> String {
            "'\(EscapedText.of(keys.map(\.stringValue).joined(separator: ".")))'"
        }
        do {
            _ = try JSONDecoder().decode(type, from: Data(line))
            return nil
        } catch DecodingError.keyNotFound(let key, let context) {
            return "\(path(context.codingPath + [key])) is missing"
        } catch DecodingError.typeMismatch(let type, let context) {
            return "\(path(context.codingPath)) must be of another type (\(type))"
        } catch DecodingError.valueNotFound(let type, let context) {
            return "\(path(context.codingPath)) must not be null (\(type))"
        } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
            return "\(path(context.codingPath)) has a value that it cannot have"
        } catch {
            return "it is no JSON"
        }
    }

    /// As JSON text, keys in order.
    package static func text(of value: some Encodable) -> String {
        do { return String(decoding: try encoder.encode(value), as: UTF8.self) } catch { return "{}" }
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

import FoundationEssentials

/// One line of JSON, with the newline.
enum ControlLine {
    /// The protocol's. It is another one where a client of the one cannot be served by the other.
    static let version = 2
    /// The longest request, in bytes.
    static let longestRequest = 256 << 10
    /// The longest reply, in bytes.
    static let longestReply = 8 << 20

    static func bytes(of message: some Encodable) -> [UInt8] {
        do {
            return try Array(encoder.encode(message)) + [UInt8(ascii: "\n")]
        } catch {
            return Array(#"{"version":\#(version),"problem":"the answer cannot be encoded"}"#.utf8)
                + [UInt8(ascii: "\n")]
        }
    }

    /// The message of a line, or nil where it makes no sense.
    static func message<Message: Decodable>(_ type: Message.Type, of line: [UInt8]) -> Message? {
        do { return try JSONDecoder().decode(type, from: Data(line)) } catch { return nil }
    }

    /// As JSON text, keys in order.
    static func text(of value: some Encodable) -> String {
        do { return String(decoding: try encoder.encode(value), as: UTF8.self) } catch { return "{}" }
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

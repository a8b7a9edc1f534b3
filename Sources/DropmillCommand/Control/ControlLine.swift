import FoundationEssentials
import PipelineEngine

/// One line of JSON, without the newline.
enum ControlLine {
    /// The longest request, in bytes.
    static let longestRequest = 16 << 10
    /// The longest reply, in bytes.
    static let longestReply = 8 << 20

    static func bytes(of message: some Encodable) -> [UInt8] {
        do {
            return try Array(JSONEncoder().encode(message)) + [UInt8(ascii: "\n")]
        } catch {
            return Array(#"{"problem":"the answer cannot be encoded"}"#.utf8) + [UInt8(ascii: "\n")]
        }
    }

    /// The message of a line, or nil where it makes no sense.
    static func message<Message: Decodable>(_ type: Message.Type, of line: [UInt8]) -> Message? {
        do { return try JSONDecoder().decode(type, from: Data(line)) } catch { return nil }
    }
}

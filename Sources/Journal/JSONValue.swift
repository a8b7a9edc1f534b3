import FoundationEssentials
package import PipelineKit

/// The little JSON that the journal's columns hold (`JSONText` writes it), as a tree that traps on nothing.
package enum JSONValue: Equatable, Sendable, Codable {
    case null
    case bool(Bool)
    /// A whole number; 128 bits hold both Int64 and UInt64, and the journal writes no other.
    case number(Int128)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The value that a text holds; nil where it is not JSON of ours.
    package init?(_ text: String) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else { return nil }
        self = value
    }

    /// What the body writes; nil where that is not one value.
    package init?(_ write: (inout JSONText) -> Void) {
        var json = JSONText()
        write(&json)
        self.init(json.string)
    }

    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        // The most frequent first: each type that does not match costs an error.
        if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let number = try? value.decode(Int128.self) {
            self = .number(number)
        } else if let members = try? value.decode([String: JSONValue].self) {
            self = .object(members)
        } else if let elements = try? value.decode([JSONValue].self) {
            self = .array(elements)
        } else if value.decodeNil() {
            self = .null
        } else {
            self = .bool(try value.decode(Bool.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .bool(let flag): try value.encode(flag)
        case .number(let number): try value.encode(number)
        case .string(let text): try value.encode(text)
        case .array(let elements): try value.encode(elements)
        case .object(let members): try value.encode(members)
        }
    }

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    package var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }

    package func integer<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) -> Integer? {
        if case .number(let value) = self { Integer(exactly: value) } else { nil }
    }
}

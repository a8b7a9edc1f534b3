import PipelineKit

/// What a JSON value looks like, as an OpenAPI document says it.
indirect enum Schema: Sendable {
    case text
    /// One of these words.
    case choice([String])
    case integer
    case number
    case flag
    case time
    case array(Schema)
    /// Any object, or one whose values are all alike.
    case map(Schema?)
    case object([Field])
    /// A value of any of these.
    case either([Schema])
    /// One of the document's components.
    case part(Part)

    struct Field: Sendable {
        let name: String
        let schema: Schema
        let isRequired: Bool

        /// One that is always there.
        static func field(_ name: String, _ schema: Schema) -> Field {
            Field(name: name, schema: schema, isRequired: true)
        }
        /// One that is left out where it has no value.
        static func maybe(_ name: String, _ schema: Schema) -> Field {
            Field(name: name, schema: schema, isRequired: false)
        }
    }

    /// The keys of an object; nil where it is none, or may have any.
    var keys: Set<String>? {
        guard case .object(let fields) = self else { return nil }
        return Set(fields.map(\.name))
    }

    func write(_ json: inout JSONText, _ key: String? = nil) {
        json.object(key) { json in
            switch self {
            case .text: json.text("type", "string")
            case .choice(let words):
                json.text("type", "string")
                json.array("enum") { json in for word in words { json.text(nil, word) } }
            case .integer: json.text("type", "integer")
            case .number: json.text("type", "number")
            case .flag: json.text("type", "boolean")
            case .time:
                json.text("type", "string")
                json.text("format", "date-time")
            case .array(let element):
                json.text("type", "array")
                element.write(&json, "items")
            case .map(let value):
                json.text("type", "object")
                value?.write(&json, "additionalProperties")
            case .object(let fields):
                json.text("type", "object")
                json.object("properties") { json in for field in fields { field.schema.write(&json, field.name) } }
                let required = fields.filter(\.isRequired)
                if !required.isEmpty {
                    json.array("required") { json in for field in required { json.text(nil, field.name) } }
                }
            case .either(let schemas):
                json.array("anyOf") { json in for schema in schemas { schema.write(&json) } }
            case .part(let part): json.text("$ref", "#/components/schemas/\(part.rawValue)")
            }
        }
    }
}

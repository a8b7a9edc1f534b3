package import PipelineKit

/// The JSON Schema (2020-12) of pipeline files, for editors that complete and check. It comes from the stages' own
/// descriptors; what needs more than a look at one value is left to `check`.
package struct PipelineSchema {
    private let registry: StageRegistry

    /// The schema of files with stages of these kinds.
    package init(_ registry: StageRegistry) { self.registry = registry }

    /// The schema as JSON.
    package var json: String {
        var json = JSONText()
        json.object { json in
            json.text("$schema", "https://json-schema.org/draft/2020-12/schema")
            json.text("title", "A Dropmill pipeline")
            json.text("type", "object")
            json.array("required") { json in
                for key in ["inbox", "processed", "failed", "stages"] { json.text(nil, key) }
            }
            json.flag("additionalProperties", false)
            json.object("properties") { json in
                for key in PipelineDecoder.keys { property(key, &json) }
            }
            json.object("$defs") { json in
                json.object("stage", stage)
                json.object("retry", retry)
                json.object("when", when)
            }
        }
        return json.string
    }

    // MARK: The file's own keys

    private func property(_ key: String, _ json: inout JSONText) {
        switch key {
        case "stages": json.object(key) { list(of: "stage", atLeast: 1, &$0) }
        case "on_failure": json.object(key) { list(of: "stage", atLeast: 0, &$0) }
        case "retry": json.object(key) { $0.text("$ref", "#/$defs/retry") }
        case "match", "ready", "active": json.object(key) { $0.text("type", "object") }
        case "on_conflict": json.object(key) { write(.choice(Pipeline.ConflictPolicy.allCases.map(\.rawValue)), &$0) }
        case "durability": json.object(key) { write(.choice(Pipeline.Durability.allCases.map(\.rawValue)), &$0) }
        default: json.object(key) { write(.text, &$0) }
        }
    }

    private func list(of definition: String, atLeast least: Int, _ json: inout JSONText) {
        json.text("type", "array")
        json.integer("minItems", least)
        json.object("items") { $0.text("$ref", "#/$defs/\(definition)") }
    }

    // MARK: Stages

    /// A bare kind, or a kind with its options.
    private func stage(_ json: inout JSONText) {
        json.array("oneOf") { json in
            json.object { json in
                json.array("enum") { json in
                    for descriptor in registry.descriptors
                    where descriptor.options.allSatisfy({ !$0.isRequired }) {
                        json.text(nil, descriptor.kind)
                    }
                }
            }
            for descriptor in registry.descriptors { json.object { kind(descriptor, &$0) } }
        }
    }

    private func kind(_ descriptor: StageDescriptor, _ json: inout JSONText) {
        json.text("type", "object")
        json.array("required") { $0.text(nil, descriptor.kind) }
        json.flag("additionalProperties", false)
        json.object("properties") { json in
            json.object(descriptor.kind) { json in
                json.text("description", descriptor.summary)
                let required = descriptor.options.filter(\.isRequired)
                if required.isEmpty {
                    json.array("type") { json in
                        json.text(nil, "object")
                        json.text(nil, "null")
                    }
                } else {
                    json.text("type", "object")
                    json.array("required") { json in
                        for option in required { json.text(nil, option.name) }
                    }
                }
                json.flag("additionalProperties", false)
                json.object("properties") { options(descriptor.options, &$0) }
            }
        }
    }

    private func options(_ options: [AnyStageOption], _ json: inout JSONText) {
        for option in options {
            json.object(option.name) { json in
                let fallback = option.isRequired || option.fallbackText.isEmpty ? "" : " (\(option.fallbackText))"
                json.text("description", option.summary + fallback)
                write(option.schema, &json)
            }
        }
        json.object("workers") { write(.text, &$0) }
        json.object("timeout") { write(.text, &$0) }
        json.object("retry") { $0.text("$ref", "#/$defs/retry") }
        json.object("when") { $0.text("$ref", "#/$defs/when") }
    }

    private func retry(_ json: inout JSONText) {
        json.text("type", "object")
        json.flag("additionalProperties", false)
        json.object("properties") { json in
            json.object("attempts") { write(.integer(1...100), &$0) }
            json.object("backoff") { write(.text, &$0) }
            json.object("max_backoff") { write(.text, &$0) }
        }
    }

    private func when(_ json: inout JSONText) {
        json.array("oneOf") { json in
            json.object { write(.oneOrMore(.text), &$0) }
            json.object { json in
                json.text("type", "object")
                json.flag("additionalProperties", false)
                json.object("properties") { json in
                    for key in PipelineDecoder.conditionKeys { json.object(key) { write(.oneOrMore(.text), &$0) } }
                }
            }
        }
    }

    // MARK: Values

    private func write(_ schema: OptionSchema, _ json: inout JSONText) {
        switch schema {
        // YAML reads `10` as a number and `true` as a truth value, where a text is meant.
        case .text: types(["string", "number", "boolean"], &json)
        case .flag: json.text("type", "boolean")
        case .integer(let range):
            json.text("type", "integer")
            json.integer("minimum", range.lowerBound)
            json.integer("maximum", range.upperBound)
        case .choice(let words):
            json.array("enum") { json in
                for word in words { json.text(nil, word) }
            }
        case .oneOrMore(let member):
            json.array("anyOf") { json in
                json.object { write(member, &$0) }
                json.object { json in
                    json.text("type", "array")
                    json.object("items") { write(member, &$0) }
                }
            }
        case .map(let member):
            json.text("type", "object")
            json.object("additionalProperties") { write(.oneOrMore(member), &$0) }
        }
    }

    private func types(_ names: [String], _ json: inout JSONText) {
        json.array("type") { json in
            for name in names { json.text(nil, name) }
        }
    }
}

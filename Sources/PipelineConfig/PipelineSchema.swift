package import PipelineKit

/// The JSON Schema (2020-12) of pipeline files, for editors that complete and check. It comes from the stages' own
/// descriptors; what needs more than a look at one value is left to `check`.
package struct PipelineSchema {
    private let registry: StageRegistry

    /// The schema of files with stages of these kinds.
    package init(_ registry: StageRegistry) { self.registry = registry }

    private static let required = ["inbox", "processed", "failed", "stages"]

    /// The schema as JSON.
    package var json: String {
        var json = JSONText()
        json.object { json in
            json.text("$schema", "https://json-schema.org/draft/2020-12/schema")
            json.text("title", "A Dropmill pipeline")
            json.text("type", "object")
            json.array("required") { json in
                for key in Self.required { json.text(nil, key) }
            }
            json.flag("additionalProperties", false)
            json.object("properties") { json in
                for key in PipelineDecoder.keys { property(key, &json) }
            }
            json.object("$defs") { json in
                json.object("stage") { stage(registry.descriptors, &$0) }
                // What stands in `on_failure` publishes nothing.
                json.object("telling") { json in
                    stage(
                        registry.descriptors.filter { $0.effects.isDisjoint(with: [.publishes, .publishesCopy]) }, &json
                    )
                }
                for descriptor in registry.descriptors { json.object(descriptor.kind) { kind(descriptor, &$0) } }
                json.object("retry") { Self.map(Self.retry, &$0) }
                json.object("when", when)
            }
        }
        return json.string
    }

    // MARK: The file's own keys

    /// What the keys take that are no text; null stands for a key that is not given.
    private static let shapes: [String: OptionSchema] = [
        "order": .choice(Pipeline.Order.allCases.map(\.rawValue)),
        "on_conflict": .choice(Pipeline.ConflictPolicy.allCases.map(\.rawValue)),
        "durability": .choice(Pipeline.Durability.allCases.map(\.rawValue)),
        "min_free": .size, "ownership": .choice(Pipeline.Ownership.allCases.map(\.rawValue)),
        "trust": .anyNumber(.text),
    ]

    private static let maps: [String: [(key: String, shape: OptionSchema)]] = [
        "match": [
            ("include", .oneOrMore(.text)), ("exclude", .anyNumber(.text)),
            ("depth", .either(.choice(["all"]), .integer(1...1000))),
        ],
        "ready": [
            ("quiet", .duration), ("writers", .choice(ReadyRule.Writers.allCases.map(\.rawValue))), ("marker", .text),
            ("manifest", .text), ("timeout", .duration), ("unit", .choice(ReadyRule.Unit.allCases.map(\.rawValue))),
            ("empty", .choice(ReadyRule.Empty.allCases.map(\.rawValue))), ("max_size", .size),
            ("max_entries", .integer(1...Int(Int32.max))), ("max_depth", .integer(ReadyRule.Limits.depths)),
        ],
        "active": [("jobs", .integer(1...100_000)), ("bytes", .size)],
        "retry": retry,
    ]

    private static let retry: [(key: String, shape: OptionSchema)] = [
        ("attempts", .integer(1...100)), ("backoff", .duration), ("max_backoff", .duration),
    ]

    private func property(_ key: String, _ json: inout JSONText) {
        json.object(key) { json in
            switch key {
            case "stages": list(of: "stage", atLeast: 1, &json)
            case "on_failure":
                json.array("anyOf") { json in
                    json.object { list(of: "telling", atLeast: 0, &$0) }
                    json.object { $0.text("$ref", "#/$defs/telling") }
                    json.object { $0.text("type", "null") }
                }
            default:
                if let map = Self.maps[key] {
                    Self.optional(&json) { Self.map(map, &$0) }
                } else if Self.required.contains(key) {
                    Self.write(.text, &json)
                } else {
                    Self.optional(&json) { Self.write(Self.shapes[key] ?? .text, &$0) }
                }
            }
        }
    }

    private func list(of definition: String, atLeast least: Int, _ json: inout JSONText) {
        json.text("type", "array")
        json.integer("minItems", least)
        json.object("items") { $0.text("$ref", "#/$defs/\(definition)") }
    }

    // MARK: Stages

    /// A bare kind, or a kind with its options.
    private func stage(_ descriptors: [StageDescriptor], _ json: inout JSONText) {
        json.array("oneOf") { json in
            json.object { json in
                json.array("enum") { json in
                    for descriptor in descriptors where descriptor.options.allSatisfy({ !$0.isRequired }) {
                        json.text(nil, descriptor.kind)
                    }
                }
            }
            for descriptor in descriptors { json.object { $0.text("$ref", "#/$defs/\(descriptor.kind)") } }
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
                if option.isRequired {
                    Self.write(option.schema, &json)
                } else {
                    Self.optional(&json) { Self.write(option.schema, &$0) }
                }
            }
        }
        json.object("workers") { json in
            Self.optional(&json) { Self.write(.either(.choice(["auto"]), .integer(1...256)), &$0) }
        }
        json.object("timeout") { Self.optional(&$0) { Self.write(.duration, &$0) } }
        for key in ["retry", "when"] {
            json.object(key) { Self.optional(&$0) { $0.text("$ref", "#/$defs/\(key)") } }
        }
    }

    private func when(_ json: inout JSONText) {
        json.array("anyOf") { json in
            json.object { Self.write(.anyNumber(.text), &$0) }
            json.object { json in
                Self.map(
                    PipelineDecoder.conditionKeys.map { key in
                        (key, ["larger", "smaller"].contains(key) ? .size : .anyNumber(.text))
                    }, &json)
            }
        }
    }

    // MARK: Values

    /// A map of these keys and no others, each of which may be left out.
    private static func map(_ members: [(key: String, shape: OptionSchema)], _ json: inout JSONText) {
        json.text("type", "object")
        json.flag("additionalProperties", false)
        json.object("properties") { json in
            for member in members { json.object(member.key) { optional(&$0) { write(member.shape, &$0) } } }
        }
    }

    /// `key: ~` is as good as no key.
    private static func optional(_ json: inout JSONText, _ body: (inout JSONText) -> Void) {
        json.array("anyOf") { json in
            json.object(nil, body)
            json.object { $0.text("type", "null") }
        }
    }

    private static func write(_ schema: OptionSchema, _ json: inout JSONText) {
        switch schema {
        // YAML reads `10` as a number and `true` as a truth value, where a text is meant.
        case .text: types(["string", "number", "boolean"], &json)
        case .flag: orVariable(&json) { $0.text("type", "boolean") }
        case .integer(let range):
            orVariable(&json) { json in
                json.text("type", "integer")
                json.integer("minimum", range.lowerBound)
                json.integer("maximum", range.upperBound)
            }
        case .size: quantity(ByteSize.units.map(\.name), isUnitNeeded: false, &json)
        case .duration: quantity(Duration.unitNames.map(\.name), isUnitNeeded: true, &json)
        case .choice(let words):
            orVariable(&json) { json in
                json.array("enum") { json in
                    for word in words { json.text(nil, word) }
                }
            }
        case .form(let expression):
            orVariable(&json) { json in
                json.text("type", "string")
                json.text("pattern", expression)
            }
        case .either(let one, let other):
            json.array("anyOf") { json in
                json.object { write(one, &$0) }
                json.object { write(other, &$0) }
            }
        case .anyNumber(let member): list(of: member, atLeast: 0, isDistinct: false, &json)
        case .oneOrMore(let member): list(of: member, atLeast: 1, isDistinct: false, &json)
        case .distinct(let member): list(of: member, atLeast: 1, isDistinct: true, &json)
        case .map(let member):
            json.text("type", "object")
            json.object("additionalProperties") { write(member, &$0) }
        }
    }

    /// One, or a list.
    private static func list(
        of member: OptionSchema, atLeast least: Int, isDistinct: Bool, _ json: inout JSONText
    ) {
        json.array("anyOf") { json in
            json.object { write(member, &$0) }
            json.object { json in
                json.text("type", "array")
                json.integer("minItems", least)
                if isDistinct { json.flag("uniqueItems", true) }
                json.object("items") { write(member, &$0) }
            }
        }
    }

    /// A number with a unit.
    private static func quantity(_ units: [String], isUnitNeeded: Bool, _ json: inout JSONText) {
        orVariable(&json) { json in
            json.text("type", "string")
            json.text("pattern", "^[0-9]+([.][0-9]+)? *(\(units.joined(separator: "|")))\(isUnitNeeded ? "" : "?")$")
        } orElse: { json in
            json.text("type", "number")
            json.integer("minimum", 0)
            if isUnitNeeded { json.integer("maximum", 0) }
        }
    }

    /// Any value may come from the environment.
    private static func orVariable(
        _ json: inout JSONText, _ body: (inout JSONText) -> Void, orElse: ((inout JSONText) -> Void)? = nil
    ) {
        json.array("anyOf") { json in
            json.object(nil, body)
            if let orElse { json.object(nil, orElse) }
            json.object { json in
                json.text("type", "string")
                json.text("pattern", "[$][{]")
            }
        }
    }

    private static func types(_ names: [String], _ json: inout JSONText) {
        json.array("type") { json in
            for name in names { json.text(nil, name) }
        }
    }
}

import Files
import PipelineKit

/// Values of pipeline files, as JSON Schema has them.
enum SchemaValue {
    /// A map of these keys and no others, each of which may be left out.
    static func map(_ members: [PipelineKey], _ json: inout JSONText) {
        json.text("type", "object")
        json.flag("additionalProperties", false)
        json.object("properties") { json in
            for member in members {
                switch member.shape {
                case .value(let shape): add(member, &json) { write(shape, &$0) }
                case .map(let members): add(member, &json) { map(members, &$0) }
                case .maps(let members): add(member, &json) { maps(members, &$0) }
                case .stages, .telling: break
                }
            }
        }
    }

    private static func add(_ key: PipelineKey, _ json: inout JSONText, _ write: (inout JSONText) -> Void) {
        json.object(key.name) { json in
            describe(key, &json)
            optional(&json, write)
        }
    }

    /// One such map, or a list of them.
    static func maps(_ members: [PipelineKey], _ json: inout JSONText) {
        json.array("anyOf") { json in
            json.object { map(members, &$0) }
            json.object { json in
                json.text("type", "array")
                json.object("items") { map(members, &$0) }
            }
        }
    }

    /// What an editor shows of a key.
    static func describe(_ key: PipelineKey, _ json: inout JSONText) {
        guard !key.summary.isEmpty else { return }
        json.text("title", key.name)
        json.text("description", key.summary)
        switch key.fallback {
        case .text(let text): json.text("default", text)
        case .number(let number): json.integer("default", number)
        case nil: break
        }
    }

    /// `key: ~` counts as no key.
    static func optional(_ json: inout JSONText, _ body: (inout JSONText) -> Void) {
        json.array("anyOf") { json in
            json.object(nil, body)
            json.object { $0.text("type", "null") }
        }
    }

    static func write(_ schema: OptionSchema, _ json: inout JSONText) {
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
        case .pattern(let expression):
            types(["string", "number", "boolean"], &json)
            json.text("pattern", "\(expression)|[$][{]")
        case .mode(let expression, let modes):
            orVariable(
                &json,
                { json in
                    json.text("type", "string")
                    json.text("pattern", expression)
                },
                orElse: { json in
                    json.array("enum") { json in
                        for mode in modes { if let digits = Int(String(mode, radix: 8)) { json.integer(nil, digits) } }
                    }
                })
        case .size: quantity(ByteSize.units.map(\.name), isUnitNeeded: false, &json)
        case .someSize: quantity(ByteSize.units.map(\.name), isUnitNeeded: false, isZeroTaken: false, &json)
        case .duration: quantity(Duration.unitNames.map(\.name), isUnitNeeded: true, &json)
        case .time: quantity(Duration.unitNames.map(\.name), isUnitNeeded: true, isZeroTaken: false, &json)
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

    private static func quantity(
        _ units: [String], isUnitNeeded: Bool, isZeroTaken: Bool = true, _ json: inout JSONText
    ) {
        let unit = "(\(units.joined(separator: "|")))\(isUnitNeeded ? "" : "?")"
        let some = isZeroTaken ? "" : "(?=.*[1-9])"
        let number: ((inout JSONText) -> Void)? =
            isUnitNeeded && !isZeroTaken
            ? nil
            : { json in
                json.text("type", "number")
                json.integer("minimum", isZeroTaken ? 0 : 1)
                if isUnitNeeded { json.integer("maximum", 0) }
            }
        orVariable(
            &json,
            { json in
                json.text("type", "string")
                json.text("pattern", "^\(some)[0-9]+([.][0-9]+)? *\(unit)$")
            }, orElse: number)
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

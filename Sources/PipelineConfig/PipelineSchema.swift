package import PipelineKit

/// The JSON Schema (2020-12) of pipeline files, for editors that complete and check. It is built from the stages'
/// descriptors; rules about more than one value are left to `check`.
package struct PipelineSchema {
    private let registry: StageRegistry

    /// The schema of files with stages of these kinds.
    package init(_ registry: StageRegistry) { self.registry = registry }

    /// The schema as JSON.
    package var json: String {
        var json = JSONText()
        json.object { json in
            json.text("$schema", "https://json-schema.org/draft/2020-12/schema")
            json.text("$id", "urn:dropmill:pipeline")
            json.text("title", "A Dropmill pipeline")
            json.text("description", "What happens to each file that is dropped into a folder: one pipeline per file.")
            json.text("type", "object")
            json.array("required") { json in
                for (key, _) in PipelineDecoder.required { json.text(nil, key) }
            }
            json.flag("additionalProperties", false)
            json.object("properties") { json in
                for key in PipelineKey.all { property(key, &json) }
            }
            json.array("allOf", Self.exclusions)
            json.object("$defs") { json in
                json.object("stage") { stage(registry.descriptors, &$0) }
                // Stages in `on_failure` create no files, and run once.
                json.object("telling") { json in
                    stage(registry.descriptors.filter(\.mayHaveNoEffect), &json)
                    json.object("not") { json in
                        json.text("type", "object")
                        json.integer("minProperties", 1)
                        json.object("additionalProperties") { Self.given(["retry"], in: &$0) }
                    }
                }
                for descriptor in registry.descriptors { json.object(descriptor.kind) { kind(descriptor, &$0) } }
                json.object("retry") { SchemaValue.map(PipelineKey.retry, &$0) }
                json.object("when", when)
            }
        }
        return json.string
    }

    // MARK: The file's own keys

    private func property(_ key: PipelineKey, _ json: inout JSONText) {
        json.object(key.name) { json in
            SchemaValue.describe(key, &json)
            switch key.shape {
            case .stages: list(of: "stage", atLeast: 1, &json)
            case .telling:
                json.array("anyOf") { json in
                    json.object { list(of: "telling", atLeast: 0, &$0) }
                    json.object { $0.text("$ref", "#/$defs/telling") }
                    json.object { $0.text("type", "null") }
                }
            case .value(let shape) where PipelineDecoder.required.contains { $0.0 == key.name }:
                SchemaValue.write(shape, &json)
            case .value(let shape): SchemaValue.optional(&json) { SchemaValue.write(shape, &$0) }
            case .map(let members): SchemaValue.optional(&json) { SchemaValue.map(members, &$0) }
            case .maps(let members): SchemaValue.optional(&json) { SchemaValue.maps(members, &$0) }
            }
        }
    }

    /// Keys that exclude each other, whatever their values.
    private static func exclusions(_ json: inout JSONText) {
        // With `ownership: keep`, rights cannot be set.
        json.object { json in
            json.object("if") { json in
                json.array("required") { $0.text(nil, "ownership") }
                json.object("properties") { $0.object("ownership") { $0.text("const", "keep") } }
            }
            json.object("then") { json in
                json.object("properties") { json in
                    for key in ["mode", "owner", "group"] { json.object(key) { $0.text("type", "null") } }
                }
            }
        }
        // Only a folder can hold a manifest.
        json.object { json in
            json.object("properties") { json in
                json.object("ready") { json in
                    json.object("if") { Self.given(["manifest"], in: &$0) }
                    json.object("then") { json in
                        json.array("required") { $0.text(nil, "unit") }
                        json.object("properties") { json in
                            json.object("unit") { SchemaValue.write(.choice(["folder"]), &$0) }
                        }
                    }
                }
            }
        }
        // A folder that is one drop is not searched.
        json.object { json in
            json.object("if") { json in
                json.array("required") { $0.text(nil, "ready") }
                json.object("properties") { json in
                    json.object("ready") { json in
                        json.array("required") { $0.text(nil, "unit") }
                        json.object("properties") { $0.object("unit") { $0.text("const", "folder") } }
                    }
                }
            }
            json.object("then") { json in
                json.object("properties") { json in
                    json.object("match") { json in
                        json.object("properties") { json in
                            json.object("depth") { json in
                                json.array("enum") { json in
                                    json.integer(nil, 1)
                                    json.null()
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private static func given(_ keys: [String], in json: inout JSONText) {
        json.text("type", "object")
        json.array("required") { json in
            for key in keys { json.text(nil, key) }
        }
        json.object("properties") { json in
            for key in keys { json.object(key) { $0.object("not") { $0.text("type", "null") } } }
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
                    SchemaValue.write(option.schema, &json)
                } else {
                    SchemaValue.optional(&json) { SchemaValue.write(option.schema, &$0) }
                }
            }
        }
        json.object("workers") { json in
            json.array("anyOf") { json in
                json.object { SchemaValue.write(.either(.choice(["auto"]), .integer(PipelineDecoder.workers)), &$0) }
                json.object { json in
                    json.text("type", "object")
                    json.flag("additionalProperties", false)
                    json.object("properties") { json in
                        json.object("fleet") { SchemaValue.write(.integer(PipelineDecoder.workers), &$0) }
                    }
                    json.array("required") { $0.text(nil, "fleet") }
                }
                json.object { $0.text("type", "null") }
            }
        }
        json.object("timeout") { SchemaValue.optional(&$0) { SchemaValue.write(.time, &$0) } }
        for key in ["retry", "when"] {
            json.object(key) { SchemaValue.optional(&$0) { $0.text("$ref", "#/$defs/\(key)") } }
        }
    }

    private func when(_ json: inout JSONText) {
        json.array("anyOf") { json in
            json.object { SchemaValue.write(.anyNumber(.text), &$0) }
            json.object { json in
                SchemaValue.map(
                    PipelineDecoder.conditionKeys(registry).map { key in
                        PipelineKey(key, .value(["larger", "smaller"].contains(key) ? .size : .anyNumber(.text)))
                    }, &json)
            }
        }
    }
}

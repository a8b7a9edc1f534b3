import BuiltinStages
import FoundationEssentials
import PipelineConfig
import PipelineKit
import Testing

@Suite struct PipelineSchemaTests {
    private indirect enum Value: Decodable {
        case map([String: Value])
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do { self = .map(try container.decode([String: Value].self)) } catch { self = .other }
        }

        subscript(key: String) -> Value? {
            if case .map(let members) = self { members[key] } else { nil }
        }
    }

    @Test func everyKindWithEveryOptionIsInIt() throws {
        let json = PipelineSchema(.builtin).json
        let root = try JSONDecoder().decode(Value.self, from: Data(json.utf8))
        #expect(root["properties"]?["on_failure"] != nil)
        #expect(root["$defs"]?["when"] != nil)
        for descriptor in StageRegistry.builtin.descriptors {
            #expect(json.contains("\"\(descriptor.kind)\":{\"description\""), "\(descriptor.kind)")
            for option in descriptor.options { #expect(json.contains("\"\(option.name)\":{\"description\"")) }
        }
    }
}

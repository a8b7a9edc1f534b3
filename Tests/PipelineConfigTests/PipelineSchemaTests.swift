import BuiltinStages
import FoundationEssentials
import PipelineKit
import Testing

@testable import PipelineConfig

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

    /// What an editor shows of every key of the file, and of those within.
    @Test func everyKeyIsDescribed() throws {
        let json = PipelineSchema(.builtin).json
        #expect(json.contains("\"$id\":\"urn:dropmill:pipeline\""))
        for key in PipelineKey.all {
            #expect(json.contains("\"\(key.name)\":{\"title\":\"\(key.name)\",\"description\":\""), "\(key.name)")
        }
        #expect(json.contains(#""default":"arrival""#))
        #expect(
            json.contains(#""jobs":{"title":"jobs","description":"how many jobs may be active at once","default":1024"#)
        )
    }

    /// The defaults that editors show are those that are in force.
    @Test func theDefaultsAreTrue() throws {
        // One that is given is also how long a drop has to stand where nobody sees its writers.
        #expect(ReadyRule().quiet == .seconds(1))
        func lines(_ keys: [PipelineKey]) -> [String] {
            keys.filter { $0.name != "quiet" }.flatMap { key -> [String] in
                if case .map(let members) = key.shape {
                    let inner = lines(members)
                    return inner.isEmpty ? [] : ["\(key.name): { \(inner.joined(separator: ", ")) }"]
                }
                switch key.fallback {
                case .text(let text): return ["\(key.name): \(text)"]
                case .number(let number): return ["\(key.name): \(number)"]
                case nil: return []
                }
            }
        }
        let defaults = lines(PipelineKey.all)
        #expect(defaults.count >= 9)
        let head = PipelineDecoderTests.head
        let written = PipelineDecoderTests.read(head + defaults.joined(separator: "\n"))
        #expect(written.problems == [])
        func means(_ found: Pipeline?) -> String {
            var pipeline = found
            // What is written is not the same.
            pipeline?.declaration = Declaration()
            var text = ""
            dump(pipeline, to: &text)
            return text
        }
        #expect(means(written.draft?.pipeline) == means(PipelineDecoderTests.read(head).draft?.pipeline))
    }
}

import PipelineKit

/// What of a pipeline file may be shown: what stands under keys that take no secrets. Of others, and of keys that
/// nobody knows, only the keys.
indirect enum ShownKeys {
    case nothing
    /// A text, or a list of some.
    case text
    /// A map of texts with any keys.
    case texts
    /// A map with these keys; `orText`: or a text in its place.
    case keys([String: ShownKeys], orText: Bool = false)
    /// A list of stages, or one.
    case stages([String: ShownKeys])

    /// Of files with stages of these kinds.
    static func file(_ registry: StageRegistry) -> ShownKeys {
        let conditions = PipelineDecoder.conditionKeys(registry).map { ($0, ShownKeys.text) }
        let common: [String: ShownKeys] = [
            "workers": .keys(["fleet": .text], orText: true), "timeout": .text, "retry": of(PipelineKey.retry),
            "when": .keys(Dictionary(conditions) { first, _ in first }, orText: true),
        ]
        let stages = registry.descriptors.map { descriptor in
            let own = descriptor.options.map { ($0.name, of($0)) }
            return (descriptor.kind, ShownKeys.keys(common.merging(own) { first, _ in first }))
        }
        return of(PipelineKey.all, stages: Dictionary(stages) { first, _ in first })
    }

    private static func of(_ keys: [PipelineKey], stages: [String: ShownKeys] = [:]) -> ShownKeys {
        let shown = keys.map { key -> (String, ShownKeys) in
            switch key.shape {
            case .value(.map): (key.name, .texts)
            case .value: (key.name, .text)
            case .map(let members), .maps(let members): (key.name, of(members))
            case .stages, .telling: (key.name, .stages(stages))
            }
        }
        return .keys(Dictionary(shown) { first, _ in first })
    }

    /// A single text that takes secrets is a URL, of which only these are not shown.
    private static func of(_ option: AnyStageOption) -> ShownKeys {
        guard case .map = option.schema else { return .text }
        return option.takesSecrets ? .nothing : .texts
    }

    /// The keys whose values are secrets, whatever they are.
    static func secretKeys(_ registry: StageRegistry) -> Set<String> {
        Set(
            registry.descriptors.flatMap(\.options).filter { option in
                if case .nothing = of(option) { true } else { false }
            }.map(\.name))
    }
}

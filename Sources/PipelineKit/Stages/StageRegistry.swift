import SystemPackage

/// The stage kinds that a program knows, by an explicit list.
public struct StageRegistry: Sendable {
    private let types: [any Stage.Type]
    /// What their stages share.
    public var services = StageServices()

    /// The helpers that its kinds need.
    package private(set) var helpers: [HelperProgram] = []

    /// A registry of these kinds, in the order they are to be shown.
    public init(_ types: [any Stage.Type]) { self.types = types }

    /// The same of kinds that need helpers.
    package init(_ types: [any Stage.Type], helpers: [HelperProgram]) {
        self.types = types
        self.helpers = helpers
    }

    /// These kinds, and others after them.
    public func adding(_ others: [any Stage.Type]) -> StageRegistry {
        var registry = StageRegistry(types + others, helpers: helpers)
        registry.services = services
        return registry
    }

    /// The descriptors, in order.
    public var descriptors: [StageDescriptor] { types.map { $0.descriptor } }

    /// What is proposed where a pipeline lacks something: the kinds, and the first one's entry as YAML; nil where no
    /// kind helps.
    package func remedy(for need: StageDescriptor.Need) -> (kinds: String, entry: String)? {
        let able = descriptors.filter { $0.remedies[need] != nil }
        return able.first?.remedies[need].map { (able.map(\.kind).joined(separator: " or "), $0) }
    }

    /// Which options take secrets, for messages: `only 'url' and 'headers' of http take one`.
    package var secretOptions: String {
        let takers = descriptors.compactMap { descriptor in
            let names = descriptor.options.filter(\.takesSecrets).map { "'\($0.name)'" }
            return names.isEmpty ? nil : "\(names.joined(separator: " and ")) of \(descriptor.kind)"
        }
        return takers.isEmpty ? "no option takes one" : "only \(takers.joined(separator: " and ")) take one"
    }

    /// The type of a kind, or nil.
    package func type(of kind: String) -> (any Stage.Type)? { types.first { $0.descriptor.kind == kind } }
}

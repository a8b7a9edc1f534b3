import SystemPackage

/// The stage kinds that a program knows, by an explicit list.
package struct StageRegistry: Sendable {
    private let types: [any Stage.Type]

    /// A registry of these kinds, in the order they are to be shown.
    package init(_ types: [any Stage.Type]) { self.types = types }

    /// The descriptors, in order.
    package var descriptors: [StageDescriptor] { types.map { $0.descriptor } }

    /// The type of a kind, or nil.
    package func type(of kind: String) -> (any Stage.Type)? { types.first { $0.descriptor.kind == kind } }
}

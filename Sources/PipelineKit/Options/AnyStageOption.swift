import SystemPackage

/// A type-erased option, for lists of options.
public struct AnyStageOption: Sendable {
    /// The key in the pipeline file.
    public let name: String
    package let summary: String
    /// What it takes.
    package let takes: String
    /// The default for people.
    package let fallbackText: String
    /// Whether the key must be given.
    package let isRequired: Bool
    /// The shape of what it takes.
    package let schema: OptionSchema
    /// Whether it takes secrets.
    package let takesSecrets: Bool
    let decode: @Sendable (OptionNode, OptionContext) throws(OptionProblem) -> any Sendable
}

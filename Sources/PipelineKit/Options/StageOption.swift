import SystemPackage

/// One option of a stage kind: its name, what it means, what it takes and how its value is read. The parser, the
/// linter, the `stages` verb and README's table all come from these.
public struct StageOption<Value: Sendable>: Sendable {
    /// The key in the pipeline file.
    public let name: String
    /// One sentence without a final stop, beginning in lower case.
    package let summary: String
    /// What it takes, for people: `true | false`, `sha256 | md5, or a list`, `a duration`.
    package let takes: String
    /// The value without the key; nil where the key must be given.
    package let fallback: Value?
    /// The default for people; `required` or empty where there is none to name.
    package let fallbackText: String
    /// The shape of what it takes, for editors.
    package let schema: OptionSchema
    /// Whether it takes secrets (`SecretText`).
    package let takesSecrets: Bool
    let decode: @Sendable (OptionNode, OptionContext) throws(OptionProblem) -> Value

    package init(
        _ name: String, _ summary: String, takes: String, default fallback: Value?, shown fallbackText: String,
        schema: OptionSchema = .text, takesSecrets: Bool = false,
        decode: @escaping @Sendable (OptionNode, OptionContext) throws(OptionProblem) -> Value
    ) {
        self.name = name
        self.summary = summary
        self.takes = takes
        self.fallback = fallback
        self.fallbackText = fallbackText
        self.schema = schema
        self.takesSecrets = takesSecrets
        self.decode = decode
    }

    /// The option without its value's type.
    public var erased: AnyStageOption {
        let decode = decode
        return AnyStageOption(
            name: name, summary: summary, takes: takes, fallbackText: fallbackText, isRequired: fallback == nil,
            schema: schema, takesSecrets: takesSecrets,
            decode: { (node, context) throws(OptionProblem) in try decode(node, context) })
    }
}

package import SystemPackage

/// What options may need to be understood, besides their own text.
package struct OptionContext: Sendable {
    /// The folder that relative paths start from: the pipeline file's own.
    package let base: FilePath
    /// What the stages before this one find out (see `Stage.facts`).
    package let facts: Set<String>
    /// What they find out of files that are no longer the payload, each with the kind that makes new ones.
    package let forgotten: [String: String]
    /// The variables that secrets may come from.
    package let environment: [String: String]

    /// A context.
    package init(
        base: FilePath, facts: Set<String> = [], forgotten: [String: String] = [:], environment: [String: String] = [:]
    ) {
        self.base = base
        self.facts = facts
        self.forgotten = forgotten
        self.environment = environment
    }
}

/// One option of a stage kind: its name, what it means, what it takes and how its value is read. The parser, the
/// linter, the `stages` verb and README's table all come from these.
package struct StageOption<Value: Sendable>: Sendable {
    /// The key in the pipeline file.
    package let name: String
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
    let decode: @Sendable (OptionNode, OptionContext) throws(OptionProblem) -> Value

    /// An option of any type.
    package init(
        _ name: String, _ summary: String, takes: String, default fallback: Value?, shown fallbackText: String,
        schema: OptionSchema = .text,
        decode: @escaping @Sendable (OptionNode, OptionContext) throws(OptionProblem) -> Value
    ) {
        self.name = name
        self.summary = summary
        self.takes = takes
        self.fallback = fallback
        self.fallbackText = fallbackText
        self.schema = schema
        self.decode = decode
    }

    /// The option without its value's type.
    package var erased: AnyStageOption {
        let decode = decode
        return AnyStageOption(
            name: name, summary: summary, takes: takes, fallbackText: fallbackText, isRequired: fallback == nil,
            schema: schema, decode: { (node, context) throws(OptionProblem) in try decode(node, context) })
    }
}

/// An option whose value's type is not told: what lists of options hold.
package struct AnyStageOption: Sendable {
    /// The key in the pipeline file.
    package let name: String
    /// What it means.
    package let summary: String
    /// What it takes.
    package let takes: String
    /// The default for people.
    package let fallbackText: String
    /// Whether the key must be given.
    package let isRequired: Bool
    /// The shape of what it takes.
    package let schema: OptionSchema
    let decode: @Sendable (OptionNode, OptionContext) throws(OptionProblem) -> any Sendable
}

/// A template with the folder that it starts from.
package struct PathTemplate: Sendable, Hashable {
    /// The template.
    package let template: Template
    /// Where a relative result begins.
    package let base: FilePath

    /// A template below a folder.
    package init(_ template: Template, below base: FilePath) {
        self.template = template
        self.base = base
    }

    /// The path for one job.
    package func path(_ values: TemplateValues) throws(TemplateProblem) -> FilePath {
        try template.path(values, below: base)
    }

    /// The folder, named without placeholders, in which every result lies.
    package var fixedFolder: FilePath { template.fixedFolder(below: base) }
}

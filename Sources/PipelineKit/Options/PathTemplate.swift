package import SystemPackage

/// A template with the folder that it starts from.
public struct PathTemplate: Sendable, Hashable {
    package let template: Template
    /// Where a relative result begins.
    package let base: FilePath

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

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
    /// What the stage may share with others.
    package let services: StageServices

    package init(
        base: FilePath, facts: Set<String> = [], forgotten: [String: String] = [:], environment: [String: String] = [:],
        services: StageServices = StageServices()
    ) {
        self.base = base
        self.facts = facts
        self.forgotten = forgotten
        self.environment = environment
        self.services = services
    }
}

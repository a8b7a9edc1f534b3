package import Files
package import FolderWatch
package import PipelineKit

extension ReadyGate {
    /// A gate for the drops of a pipeline.
    package init(rule: ReadyRule, usualLack: @escaping @Sendable (DropPath) -> Waiting? = { @Sendable _ in nil }) {
        self.init(
            rule: Rule(
                quiet: rule.quiet, blindQuiet: rule.blindQuiet, waitsForWriters: rule.writers == .wait,
                ignoresEmpty: rule.empty == .ignore, isForFolders: rule.unit == .folder, timeout: rule.timeout),
            usualLack: usualLack)
    }
}

import CLinux
package import PipelineKit
package import SystemPackage

extension ReadyRule {
    /// The rule as it holds for an inbox: on a network file system nobody sees what others write, whether they are
    /// waited for or not, so that drops stand for the longer time.
    package func holding(in inbox: FilePath) -> ReadyRule {
        guard case .network = FileSystemKind.of(inbox) else { return self }
        var rule = self
        rule.quiet = rule.blindQuiet
        return rule
    }
}

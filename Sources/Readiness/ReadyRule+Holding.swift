import CLinux
import Files
package import PipelineKit
package import SystemPackage

extension ReadyRule {
    /// The rule as it applies to an inbox: on a network file system writers on other hosts are not detectable, so drops
    /// must stand unchanged for longer.
    package func holding(in inbox: FilePath) -> ReadyRule {
        guard case .network = FileSystemKind.of(inbox) else { return self }
        var rule = self
        rule.quiet = rule.blindQuiet
        return rule
    }
}

import CLinux
import Files
package import PipelineKit
package import SystemPackage

extension ReadyRule {
    /// The rule as it applies to an inbox: on a network file system writers on other hosts are not detectable, so drops
    /// must stand unchanged for longer.
    package func holding(in inbox: FilePath) -> ReadyRule {
        if case .network = FileSystemKind.of(inbox) { blind } else { self }
    }

    /// The same for the inbox of a sight, without another look at it.
    package func holding(seenBy sight: WriterSight) -> ReadyRule { sight.network == nil ? self : blind }

    private var blind: ReadyRule {
        var rule = self
        rule.quiet = rule.blindQuiet
        return rule
    }
}

import Files
import PipelineKit
import SystemPackage

/// A marker in a job's folder, which goes along with its drop.
package struct MarkerPlacement: Sendable {
    let source: FilePath
    /// How markers are named; nil where the pipeline asks for none any more.
    let rule: MarkerRule?

    /// Its name beside its drop, whose name was `original`.
    func name(beside name: FileName, originally original: FileName, number: Int) -> FileName? {
        guard let own = source.lastName else { return nil }
        if name == original { return own }
        guard let rule, rule.name(for: original) == own, let fitting = rule.name(for: name) else {
            return own.numbered(number)
        }
        return fitting
    }
}

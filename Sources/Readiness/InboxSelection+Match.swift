package import Files
package import FolderWatch
package import PipelineKit

extension InboxSelection {
    /// What a pipeline takes. `alsoOfInterest`: other names to tell of.
    package init(_ match: MatchRule, alsoOfInterest: @escaping @Sendable (FileName) -> Bool = { _ in false }) {
        self.init(
            depth: match.depth, takes: { alsoOfInterest($0) || match.verdict(on: $0) == .taken },
            enters: { match.enters($0, in: $1) }, passes: { $0.bytes.first != UInt8(ascii: ".") })
    }
}

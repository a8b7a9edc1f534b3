@preconcurrency import Dispatch
import Glibc
import PipelineKit
import SystemPackage

/// What the content of a file says of its being whole.
package enum Wholeness: Sendable, Hashable {
    /// It is, or it is of no format that could tell.
    case whole
    /// It is not; what it is: `a zip archive without its end record`.
    case lacks(String)
    /// Nobody could tell; why.
    case untold(String)
}

extension Wholeness {
    /// The same, said of a file in a folder.
    package func named(_ path: [UInt8]) -> Wholeness {
        switch self {
        case .whole: self
        case .lacks(let lack): .lacks("\(EscapedText.of(path)) is \(lack)")
        case .untold(let reason): .untold("\(EscapedText.of(path)): \(reason)")
        }
    }
}

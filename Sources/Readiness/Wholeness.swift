@preconcurrency import Dispatch
import Files
import Glibc
import SystemPackage

/// What the content of a file says of its being whole.
package enum Wholeness: Sendable, Hashable {
    /// It is, or its format cannot show that.
    case whole
    /// It is not; what it is: `a zip archive without its end record`.
    case lacks(String)
    /// It could not be determined; why.
    case undetermined(String)
}

extension Wholeness {
    /// The same, said of a file in a folder.
    package func named(_ path: [UInt8]) -> Wholeness {
        switch self {
        case .whole: self
        case .lacks(let lack): .lacks("\(EscapedText.of(path)) is \(lack)")
        case .undetermined(let reason): .undetermined("\(EscapedText.of(path)): \(reason)")
        }
    }
}

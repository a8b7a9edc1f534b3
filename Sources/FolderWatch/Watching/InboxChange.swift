package import Files
import SystemPackage

/// A change of an inbox's listing.
package enum InboxChange: Sendable, Equatable {
    /// A name that was not there before.
    case appeared(DropPath)
    /// A name that was there was touched.
    case changed(DropPath)
    /// A name that was there is not any more.
    case vanished(DropPath)

    package var path: DropPath {
        switch self {
        case .appeared(let path), .changed(let path), .vanished(let path): path
        }
    }
}

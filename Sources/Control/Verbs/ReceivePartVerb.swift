package import FoundationEssentials

/// Begins a file of the folder that comes on this connection, the one before it being whole and closed. Its descriptor
/// comes with the answer.
package enum ReceivePartVerb: ControlVerb {
    package static let name = "receivePart"
    /// The file before it is brought to the disk, as in `received`.
    package static let patience = 115

    package struct Arguments: Codable, Equatable, Sendable {
        /// Its path within the folder, in bytes.
        package var path: Data
        /// How many bytes it has; nil: it is a folder, of which no descriptor comes.
        package var size: Int64?

        package init(path: Data, size: Int64?) { (self.path, self.size) = (path, size) }
    }

    package typealias Answer = ReceiveVerb.Answer
}

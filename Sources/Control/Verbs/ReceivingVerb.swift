/// Says that a file or folder is still coming: what is silent for long is given up.
package enum ReceivingVerb: ControlVerb {
    package static let name = "receiving"
    /// A busy disk may hold the daemon up.
    package static let patience = 20

    package struct Arguments: Codable, Equatable, Sendable {
        /// How many bytes have been written, of all files of a folder.
        package var size: Int64

        package init(size: Int64) { self.size = size }
    }

    package typealias Answer = Nothing
}

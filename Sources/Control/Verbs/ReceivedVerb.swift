/// Gives the file or folder that came on this connection its name, once the descriptor is closed, or that of its last
/// file.
package enum ReceivedVerb: ControlVerb {
    package static let name = "received"
    /// It is brought to the disk.
    package static let patience = 115

    package typealias Arguments = Nothing
    package typealias Answer = ReceiveVerb.Answer
}

/// Sends copies of processed originals in, as `SendingVerb` then tells.
package enum ReplayVerb: ControlVerb {
    package static let name = "replay"
    package static let isChange = true

    package typealias Arguments = SendingOrder
    package typealias Answer = SendingVerb.Answer
}

/// Sends failed originals in again, as `SendingVerb` then tells.
package enum RetryVerb: ControlVerb {
    package static let name = "retry"
    package static let isChange = true

    package typealias Arguments = SendingOrder
    package typealias Answer = SendingVerb.Answer
}

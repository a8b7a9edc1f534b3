/// Calls jobs off that an order names or chooses, as `SendingVerb` then tells.
package enum CancelAllVerb: ControlVerb {
    package static let name = "cancelAll"
    package static let isChange = true

    package typealias Arguments = SendingOrder
    package typealias Answer = SendingVerb.Answer
}

/// To which jobs `retry`, `replay`, `cancelAll` or `dismiss` would do something, as `SendingVerb` then tells.
package enum SendableVerb: ControlVerb {
    package static let name = "sendable"

    package struct Arguments: Codable, Equatable, Sendable {
        package var verb: SendingOrder.Kind
        package var order: SendingOrder

        package init(verb: SendingOrder.Kind, order: SendingOrder) {
            (self.verb, self.order) = (verb, order)
        }
    }

    package typealias Answer = SendingVerb.Answer
}

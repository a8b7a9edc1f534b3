/// What `retry` or `replay` would send in, as `SendingVerb` then tells.
enum SendableVerb: ControlVerb {
    static let name = "sendable"

    struct Arguments: Codable, Equatable {
        var verb: SendingOrder.Kind
        var order: SendingOrder
    }

    typealias Answer = SendingVerb.Answer
}

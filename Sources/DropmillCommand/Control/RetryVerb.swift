/// Sends failed originals in again, as `SendingVerb` then tells.
enum RetryVerb: ControlVerb {
    static let name = "retry"
    static let isChange = true

    typealias Arguments = SendingOrder
    typealias Answer = SendingVerb.Answer
}

/// Sends copies of processed originals in, as `SendingVerb` then tells.
enum ReplayVerb: ControlVerb {
    static let name = "replay"
    static let isChange = true

    typealias Arguments = SendingOrder
    typealias Answer = SendingVerb.Answer
}

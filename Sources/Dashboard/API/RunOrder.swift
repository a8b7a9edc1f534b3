import Control

/// What is to be done to many jobs, and to which, as a body says it.
struct RunOrder: Decodable {
    private enum Key: CodingKey { case verb, key }

    let kind: SendingOrder.Kind
    let order: SendingOrder

    static let verbs = SendingOrder.Kind.allCases.map(\.rawValue)
    static let body = JobsOrder.body([.field("verb", .choice(verbs)), .maybe("key", .text)])

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let verb = try values.decode(String.self, forKey: .verb)
        guard let kind = SendingOrder.Kind(rawValue: verb) else {
            throw Problem(
                .badRequest, "body.verb", "'verb' is none of \(Self.verbs.joined(separator: ", "))", subject: "verb",
                remedy: "Give one of these.")
        }
        let jobs = try JobsOrder(from: decoder)
        let states =
            switch kind {
            case .retry: ["failed", "cancelled"]
            case .replay: ["processed"]
            case .cancel: ["queued", "running", "deferred", "settling"]
            case .dismiss: ["failed"]
            }
        var order = try jobs.read(of: states)
        order.key = try values.decodeIfPresent(String.self, forKey: .key)
        (self.kind, self.order) = (kind, order)
    }
}

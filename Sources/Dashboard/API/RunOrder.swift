import Control

/// What is to be done to many jobs, and to which, as a body says it.
struct RunOrder: Decodable {
    private enum Key: CodingKey { case verb, key }

    /// Nil: they are dismissed.
    let kind: SendingOrder.Kind?
    let order: SendingOrder

    static let verbs = SendingOrder.Kind.allCases.map(\.rawValue) + [DismissVerb.name]
    static let body = JobsOrder.body([.field("verb", .choice(verbs)), .maybe("key", .text)])

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let verb = try values.decode(String.self, forKey: .verb)
        guard Self.verbs.contains(verb) else {
            throw Problem(
                .badRequest, "body.verb", "'verb' is none of \(Self.verbs.joined(separator: ", "))", subject: "verb",
                remedy: "Give one of these.")
        }
        kind = SendingOrder.Kind(rawValue: verb)
        let jobs = try JobsOrder(from: decoder)
        var order = SendingOrder()
        switch kind {
        case .retry, nil: order = try jobs.read(of: ["failed", "cancelled"])
        case .replay: order = try jobs.read(of: ["processed"])
        case .cancel: order = try jobs.read(of: ["queued", "running", "deferred", "settling"])
        }
        order.key = try values.decodeIfPresent(String.self, forKey: .key)
        self.order = order
    }
}

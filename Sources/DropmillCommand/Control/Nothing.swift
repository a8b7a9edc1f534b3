/// The arguments of a verb that needs none, and the answer of one that has none.
struct Nothing: Codable, Sendable, Equatable {}

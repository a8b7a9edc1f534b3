/// The arguments of a verb that needs none, and the answer of one that has none.
package struct Nothing: Codable, Sendable, Equatable {
    package init() {}
}

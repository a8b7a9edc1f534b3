/// Only the latest of what is to be told.
struct Latest<Value: Sendable>: Merging {
    private var value: Value?

    mutating func note(_ new: Value) { value = new }

    mutating func take() -> Value? {
        defer { value = nil }
        return value
    }
}

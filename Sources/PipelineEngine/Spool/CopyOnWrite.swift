/// A large value that passes from hand to hand by reference and is copied only where it is changed while another has it
/// too: one count goes up where dozens did.
@propertyWrapper
package struct CopyOnWrite<Value: Sendable>: Sendable {
    private final class Box: Sendable {
        // Immutable while it is shared: it is changed by its only owner.
        nonisolated(unsafe) var value: Value

        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    package init(wrappedValue: Value) { box = Box(wrappedValue) }

    /// Itself, to be handed on.
    package var projectedValue: Self {
        get { self }
        set { self = newValue }
    }

    package var wrappedValue: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}

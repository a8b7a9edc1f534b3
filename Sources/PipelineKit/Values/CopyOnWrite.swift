/// A large value that passes from hand to hand by reference and is copied only where it is changed while another has it
/// too: one count goes up where dozens did.
@propertyWrapper
package struct CopyOnWrite<Value: Sendable>: Sendable {
    @usableFromInline final class Box: Sendable {
        // Immutable while it is shared: it is changed by its only owner.
        @usableFromInline nonisolated(unsafe) var value: Value

        @inlinable init(_ value: Value) { self.value = value }
    }

    @usableFromInline var box: Box

    @inlinable package init(wrappedValue: Value) { box = Box(wrappedValue) }

    /// Itself, to be handed on.
    @inlinable package var projectedValue: Self {
        get { self }
        set { self = newValue }
    }

    @inlinable package var wrappedValue: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }
}

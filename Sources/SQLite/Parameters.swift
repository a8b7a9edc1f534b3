/// The values of a statement's parameters, in order. All that is text or bytes lies in one buffer, which serves
/// statement after statement and which SQLite reads in place: a value of its own for each would be boxed and copied,
/// which takes several times as long as SQLite needs to write it.
package struct Parameters: Sendable {
    enum Place {
        case null
        case integer(Int64)
        case text(Range<Int>)
        case blob(Range<Int>)
    }

    private(set) var places: [Place] = []
    /// The first one is nobody's: what is empty has to lie somewhere, too, or SQLite takes it for NULL.
    private(set) var bytes: [UInt8] = [0]

    package init() {}

    package init(_ values: [(any Bindable)?]) {
        for value in values {
            if let value { value.bind(to: &self) } else { null() }
        }
    }

    package mutating func removeAll() {
        places.removeAll(keepingCapacity: true)
        bytes.removeSubrange(1...)
    }

    package mutating func null() { places.append(.null) }

    package mutating func integer(_ value: Int64?) { places.append(value.map { .integer($0) } ?? .null) }

    package mutating func integer(_ value: Int) { places.append(.integer(Int64(value))) }

    package mutating func text(_ value: String?) {
        guard var value else { return null() }
        text { bytes in value.withUTF8 { bytes += $0 } }
    }

    /// What `write` appends, in UTF-8.
    package mutating func text(_ write: (inout [UInt8]) -> Void) { places.append(.text(add(write))) }

    package mutating func blob(_ value: [UInt8]) { blob { $0 += value } }

    /// What `write` appends.
    package mutating func blob(_ write: (inout [UInt8]) -> Void) { places.append(.blob(add(write))) }

    /// What one of them is, where it lies.
    package enum Held {
        case null
        case integer(Int64)
        case text(Slice<UnsafeRawBufferPointer>)
        case blob(Slice<UnsafeRawBufferPointer>)
    }

    /// Calls the body with each value, in order.
    package func forEach(_ body: (Held) -> Void) {
        bytes.withUnsafeBytes { bytes in
            for place in places {
                switch place {
                case .null: body(.null)
                case .integer(let number): body(.integer(number))
                case .text(let range): body(.text(bytes[range]))
                case .blob(let range): body(.blob(bytes[range]))
                }
            }
        }
    }

    private mutating func add(_ write: (inout [UInt8]) -> Void) -> Range<Int> {
        let start = bytes.count
        write(&bytes)
        return start..<bytes.count
    }
}

/// Puts values into a packet between two processes of the same program.
package struct WireWriter {
    /// What was put in.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// A number.
    package mutating func put(_ value: Int64) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }

    /// A yes or a no.
    package mutating func put(_ value: Bool) { bytes.append(value ? 1 : 0) }

    /// Bytes, with their number.
    package mutating func put(_ value: [UInt8]) {
        put(Int64(value.count))
        bytes += value
    }

    /// Text, as bytes.
    package mutating func put(_ value: String) { put(Array(value.utf8)) }

    /// Bytes, or that there are none.
    package mutating func put(_ value: [UInt8]?) {
        put(value != nil)
        if let value { put(value) }
    }
}

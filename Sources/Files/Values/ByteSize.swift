/// A number of bytes, as pipeline files write it: `512`, `64KiB`, `10MiB`, `2GB`.
public struct ByteSize: Hashable, Sendable, Comparable {
    /// Bytes; never negative.
    public let bytes: Int64

    /// A size of so many bytes.
    public init(bytes: Int64) { self.bytes = max(0, bytes) }

    /// Units and their bytes: binary ones by 1024, decimal ones by 1000 (IEC 80000-13).
    package static let units: [(name: String, bytes: Int64)] = [
        ("B", 1),
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
        ("kB", 1000), ("KB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
    ]

    /// A size from text: a whole or decimal number and a unit (none: bytes), or nil.
    package init?(_ text: String) {
        guard let (number, unit) = NumberWithUnit.split(text) else { return nil }
        guard let factor = unit.isEmpty ? 1 : Self.units.first(where: { $0.name == unit })?.bytes else { return nil }
        let value = number * Double(factor)
        guard value < Double(Int64.max) else { return nil }
        bytes = Int64(value.rounded())
    }

    /// By bytes.
    public static func < (left: ByteSize, right: ByteSize) -> Bool { left.bytes < right.bytes }
}

extension ByteSize: CustomStringConvertible {
    /// For people: `4.0 KiB`, `1.5 GiB`, `17 B`.
    public var description: String {
        guard let unit = Self.units[..<5].last(where: { $0.bytes <= bytes }), unit.bytes > 1 else {
            return "\(bytes) B"
        }
        let tenths = Int64((Double(bytes) * 10 / Double(unit.bytes)).rounded())
        return tenths >= 1000 ? "\(tenths / 10) \(unit.name)" : "\(tenths / 10).\(tenths % 10) \(unit.name)"
    }

    /// For people, beside another one: in bytes where both look alike and are not.
    package func text(besides other: ByteSize) -> String {
        self != other && description == other.description ? "\(bytes) B" : description
    }
}

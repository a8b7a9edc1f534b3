/// An lha of one file, stored, that names the code page of its name: a header of level 2, as on Windows.
package enum LhaBuilder {
    /// The name is in the bytes of that code page.
    package static func archive(_ name: [UInt8], codePage: UInt32, content: String) -> [UInt8] {
        let content = Array(content.utf8)
        // Each begins with its kind and ends with the size of the next: the header's own sum, the name, the code page.
        let extensions: [[UInt8]] = [[0, 0, 0], [1] + name, [0x46] + little(codePage, 4)]
        let sizes = extensions.map { UInt32($0.count + 2) } + [0]
        var header = Array("-lh0-".utf8) + little(UInt32(content.count), 4) + little(UInt32(content.count), 4)
        header += little(1_000_000_000, 4) + [0x20, 2] + little(UInt32(sum(content)), 2) + [UInt8(ascii: "U")]
        header += little(sizes[0], 2)
        // Behind the length of all, and the first extension's kind.
        let place = 2 + header.count + 1
        for (index, part) in extensions.enumerated() { header += part + little(sizes[index + 1], 2) }
        header = little(UInt32(header.count + 2), 2) + header
        header.replaceSubrange(place..<place + 2, with: little(UInt32(sum(header)), 2))
        return header + content + [0]
    }

    /// CRC-16 of the polynomial x^16 + x^15 + x^2 + 1.
    private static func sum(_ bytes: [UInt8]) -> UInt16 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xA001 : 0) }
        }
    }

    private static func little(_ value: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
    }
}

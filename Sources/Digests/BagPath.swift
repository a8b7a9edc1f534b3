/// Paths as the manifests of BagIt bags have them (RFC 8493, 2.1.3). Pure.
package enum BagPath {
    /// A path as a manifest has it: line ends and percent signs encoded.
    package static func encoded(_ path: [UInt8]) -> [UInt8] {
        path.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x0A: Array("%0A".utf8)
            case 0x0D: Array("%0D".utf8)
            case UInt8(ascii: "%"): Array("%25".utf8)
            default: [byte]
            }
        }
    }

    /// The path that a manifest's text stands for.
    package static func decoded(_ text: [UInt8]) -> [UInt8] {
        let codes: [String: UInt8] = ["0A": 0x0A, "0D": 0x0D, "25": UInt8(ascii: "%")]
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            let code = String(decoding: rest.prefix(2), as: UTF8.self).uppercased()
            guard byte == UInt8(ascii: "%"), let decoded = codes[code] else {
                bytes.append(byte)
                continue
            }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}

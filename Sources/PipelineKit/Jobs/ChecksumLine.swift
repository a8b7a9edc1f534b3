/// One line as `sha256sum` writes and reads it.
package enum ChecksumLine {
    /// `DIGEST  PATH\n`. A path with a newline, a carriage return or a backslash is escaped and the line begins with a
    /// backslash (GNU coreutils, "md5sum invocation").
    package static func bytes(digest: String, path: [UInt8]) -> [UInt8] {
        line(of: path) { escaped in Array(digest.utf8) + [0x20, 0x20] + escaped }
    }

    /// `TAG (PATH) = DIGEST\n`, as `sha256sum --tag` and BSD's tools have it, with the same escapes.
    package static func bytes(tag: String, digest: String, path: [UInt8]) -> [UInt8] {
        line(of: path) { escaped in Array("\(tag) (".utf8) + escaped + Array(") = \(digest)".utf8) }
    }

    private static func line(of path: [UInt8], _ compose: ([UInt8]) -> [UInt8]) -> [UInt8] {
        let needsEscape = path.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0x5C }
        return needsEscape ? [0x5C] + compose(escaped(path)) + [0x0A] : compose(path) + [0x0A]
    }

    private static func escaped(_ path: [UInt8]) -> [UInt8] {
        path.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x0A: [0x5C, UInt8(ascii: "n")]
            case 0x0D: [0x5C, UInt8(ascii: "r")]
            case 0x5C: [0x5C, 0x5C]
            default: [byte]
            }
        }
    }
}

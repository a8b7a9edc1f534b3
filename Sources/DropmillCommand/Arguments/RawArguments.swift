import Glibc
import SystemPackage

/// The program's arguments as they were given: bytes, which need not be UTF-8. They go through the parser as text in
/// which each byte that is not UTF-8 is a scalar of its own, from a private plane that file names do not use.
enum RawArguments {
    /// U+10FF00 and the byte.
    private static let base: UInt32 = 0x10_FF00

    static var all: [String] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            CommandLine.unsafeArgv[index].map { text(of: bytes(at: $0)) }
        }
    }

    static func text(of bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: isMark) {
            return text
        }
        // Everything but ASCII is spelled out, so nothing is ambiguous.
        var text = String.UnicodeScalarView()
        for byte in bytes {
            if let scalar = Unicode.Scalar(byte < 0x80 ? UInt32(byte) : base + UInt32(byte)) { text.append(scalar) }
        }
        return String(text)
    }

    /// The bytes that such text stands for.
    static func bytes(of text: String) -> [UInt8] {
        text.unicodeScalars.flatMap { scalar in
            isMark(scalar) ? [UInt8(scalar.value - base)] : UTF8.encode(scalar).map(Array.init) ?? []
        }
    }

    /// A path that was given.
    @Sendable static func path(_ text: String) -> FilePath { FilePath(bytes: bytes(of: text)) }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= base && scalar.value <= base + 0xFF }

    private static func bytes(at pointer: UnsafeMutablePointer<CChar>) -> [UInt8] {
        UnsafeBufferPointer(start: pointer, count: strlen(pointer)).map { UInt8(bitPattern: $0) }
    }
}

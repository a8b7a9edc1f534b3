import Platform
package import SystemPackage

/// The name of one file or folder: any bytes but NUL and `/`, as Linux has them (path_resolution(7)).
///
/// Names need not be UTF-8, so they are kept, compared and ordered as bytes; `text` is for people.
public struct FileName: Hashable, Sendable {
    /// The bytes, without a terminating NUL.
    public let bytes: [UInt8]

    /// The longest name that Linux file systems take, in bytes (NAME_MAX).
    package static let longest = 255

    /// A name of these bytes, or nil where they cannot name anything: empty, `.`, `..`, or with NUL or `/` inside.
    public init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count > 2 || bytes.contains(where: { $0 != UInt8(ascii: ".") }) else { return nil }
        guard !bytes.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) else { return nil }
        self.bytes = bytes
    }

    /// A name from text; the same rules hold.
    public init?(_ text: some StringProtocol) {
        self.init(Array(text.utf8))
    }

    /// The name of a path's component.
    package init?(_ component: FilePath.Component) {
        self.init(component.withPlatformString { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) })
    }

    /// For names that are known to be right: a part of one that exists.
    package init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The name that `readdir` gave, or nil for `.` and `..`.
    package init?(cString: UnsafePointer<CChar>) {
        // Of exactly its length: an array that grows byte by byte keeps more room than it needs.
        self.init(UnsafeRawBufferPointer(start: cString, count: strlen(cString)))
    }

    /// All bytes at once; an array hashes them one by one. The NUL is in no name, so it separates those of a path.
    public func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(0 as UInt8)
    }

    /// The name as text in which every byte that is not printable UTF-8 is escaped as `\xNN` (see `EscapedText`).
    public var text: String { EscapedText.of(bytes) }

    /// The name as it is, or nil where it is not UTF-8.
    public var utf8: String? { String(validating: bytes, as: UTF8.self) }

    /// Whether the name begins with a dot: never taken as a drop.
    package var isHidden: Bool { bytes.first == UInt8(ascii: ".") }

    /// Calls the body with the name as a C string.
    package func withCString<Result, Thrown: Error>(
        _ body: (UnsafePointer<CChar>) throws(Thrown) -> Result
    ) throws(Thrown) -> Result {
        var outcome: Swift.Result<Result, Thrown>?
        // A copy on the stack, with the NUL that the array itself does not carry.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { terminated in
            bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(terminated).copyMemory(from: $0) }
            terminated[bytes.count] = 0
            guard let base = terminated.baseAddress else { return }
            do throws(Thrown) {
                outcome = .success(try body(base))
            } catch {
                outcome = .failure(error)
            }
        }
        guard let outcome else { preconditionFailure("a terminated name is never empty") }
        return try outcome.get()
    }
}

extension FileName: Comparable {
    /// By bytes, as `LC_ALL=C sort` does.
    public static func < (left: FileName, right: FileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension FileName: CustomStringConvertible {
    /// The escaped text.
    public var description: String { text }
}

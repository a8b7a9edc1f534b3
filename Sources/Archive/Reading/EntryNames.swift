import Glibc

/// Makes libarchive give names as the bytes that UTF-8 has for them. In the C locale, which a program starts in, it
/// gives no name at all for those with other letters than ASCII's in zip, 7z and pax.
enum EntryNames {
    /// A glibc locale, which is never changed or freed, so threads share it without a lock.
    private struct Locale: @unchecked Sendable {
        let value: locale_t?
    }

    private static let utf8 = Locale(value: newlocale(1 << LC_CTYPE, "C.UTF-8", nil))

    /// Runs the body with the calling thread's (and only its) character set switched to UTF-8.
    static func asUTF8<Result>(_ body: () throws(ArchiveError) -> Result) throws(ArchiveError) -> Result {
        guard let locale = utf8.value else { return try body() }
        let previous = uselocale(locale)
        defer { uselocale(previous) }
        return try body()
    }

    /// Loads what converting names needs, while files can still be opened: the C library keeps it.
    static func prepare(_ encoding: UnpackPolicy.NameEncoding = .bytes) {
        _ = utf8.value
        if let charset = encoding.charset { keep(charset) }
    }

    /// The same for an archive of that format. One of lha may name any code page that its maker's system had.
    static func prepare(_ policy: UnpackPolicy, _ format: ArchiveFormat) {
        prepare(policy.nameEncoding)
        let lha = ArchiveFormat.container(.lha)
        guard format == lha || policy.nested > 0 && policy.formats.contains(lha) else { return }
        for page in codePages { keep("CP\(page)") }
    }

    /// Those of DOS and of Windows.
    private static let codePages =
        [437, 737, 775, 850, 852, 855, 857, 858] + Array(860...866) + [869, 874, 932, 936, 949, 950]
        + Array(1250...1258) + [1361]

    /// Keeps a converter open for good, and with it the tables behind it, which serve both directions.
    private static func keep(_ charset: String) { _ = iconv_open("UTF-8", charset) }
}

extension UnpackPolicy.NameEncoding {
    /// The name that iconv(1) has for it.
    var charset: String? {
        switch self {
        case .bytes: nil
        case .cp437: "CP437"
        case .shiftJIS: "CP932"
        }
    }

    /// The name in UTF-8; nil where these bytes mean nothing in this character set.
    func utf8(_ name: [UInt8]) -> [UInt8]? {
        guard let charset else { return name }
        guard let converter = iconv_open("UTF-8", charset), converter != iconv_t(bitPattern: -1) else { return nil }
        defer { iconv_close(converter) }
        var input = name.map { CChar(bitPattern: $0) }
        var output = [CChar](repeating: 0, count: 4 * name.count + 4)
        let left = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target -> Int? in
                var from = source.baseAddress
                var fromLeft = source.count
                var to = target.baseAddress
                var toLeft = target.count
                return iconv(converter, &from, &fromLeft, &to, &toLeft) == -1 ? nil : toLeft
            }
        }
        guard let left else { return nil }
        return output.dropLast(left).map { UInt8(bitPattern: $0) }
    }
}

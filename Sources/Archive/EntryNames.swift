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
}

extension FileName {
    /// Endings that belong together: the stem of `a.tar.gz` is `a`.
    private static let compressions: Set<String> = ["gz", "bz2", "xz", "zst", "lz4", "lzma", "lz", "z", "br"]

    /// Where the extension begins (its dot), or nil without one. A leading dot begins no extension.
    private var extensionStart: Int? {
        let dot = UInt8(ascii: ".")
        guard let last = bytes.lastIndex(of: dot), last > 0, last < bytes.count - 1 else { return nil }
        let ending = String(decoding: bytes[(last + 1)...], as: UTF8.self).lowercased()
        guard Self.compressions.contains(ending) else { return last }
        guard let before = bytes[..<last].lastIndex(of: dot), before > 0 else { return last }
        let inner = String(decoding: bytes[(before + 1)..<last], as: UTF8.self).lowercased()
        return inner == "tar" || inner == "cpio" ? before : last
    }

    /// The name without its extension: `report` of `report.pdf`, `a` of `a.tar.gz`; the whole name without one.
    package var stem: [UInt8] {
        guard let start = extensionStart else { return bytes }
        return Array(bytes[..<start])
    }

    /// The extension without its dot: `pdf`, `tar.gz`; empty without one.
    package var `extension`: [UInt8] {
        guard let start = extensionStart else { return [] }
        return Array(bytes[(start + 1)...])
    }

    /// The name that stands aside for a taken one: `report.2.pdf` for number 2 of `report.pdf`. A name that would pass
    /// 255 bytes loses the end of its stem. A folder's name has no extension: `photos.2026` becomes `photos.2026.2`.
    package func numbered(_ number: Int, isFolder: Bool = false) -> FileName {
        let middle = Array(".\(number)".utf8)
        let start = isFolder ? nil : extensionStart
        let ending = start.map { Array(bytes[$0...]) } ?? []
        let room = max(1, Self.longest - middle.count - ending.count)
        let stem = start.map { Array(bytes[..<$0]) } ?? bytes
        return FileName(unchecked: Array((Self.cut(stem, to: room) + middle + ending).prefix(Self.longest)))
    }

    /// The name of a file beside this one: `report.pdf` + `.sha256`. One that would pass 255 bytes loses its end and
    /// carries `unique` (a job's id) instead, so that two long names do not meet.
    package func appending(_ suffix: String, unique: String) -> FileName {
        let ending = Array(suffix.utf8)
        if bytes.count + ending.count <= Self.longest { return FileName(unchecked: bytes + ending) }
        let middle = Array("~\(unique)".utf8)
        let room = max(1, Self.longest - middle.count - ending.count)
        return FileName(unchecked: Self.cut(bytes, to: room) + middle + ending)
    }

    /// At most that many bytes, not cut within a UTF-8 sequence.
    private static func cut(_ bytes: [UInt8], to room: Int) -> [UInt8] {
        guard bytes.count > room else { return bytes }
        var end = room
        // A sequence has at most three continuation bytes; more are no UTF-8, and may be cut anywhere.
        while end > 1, room - end < 3, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(bytes[..<(bytes[end] & 0xC0 == 0x80 ? room : end)])
    }
}

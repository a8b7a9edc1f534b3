import Glibc
import SystemPackage

/// Why a drop that looks like an archive was not unpacked.
package struct MissedArchive: Sendable, Equatable {
    /// The rest of a sentence whose subject is the file.
    package let fact: String
    /// What to do about it: a sentence.
    package let remedy: String

    /// Endings of names that promise an archive or a compressed file, also of formats that are not unpacked.
    private static let endings: Set<String> = [
        "zip", "zipx", "7z", "rar", "tar", "tgz", "taz", "tbz", "tbz2", "txz", "tzst", "tlz", "gz", "bz2", "xz", "zst",
        "lz4", "lzma", "lz", "z", "cpio", "cab", "iso", "lzh", "lha", "xar", "arj", "ace",
    ]

    /// What speaks for an archive in a file of that name that does not begin like one; nil where nothing does.
    package init?(_ name: [UInt8], _ sniff: ArchiveSniff) {
        guard let content = sniff.hidden else { return nil }
        let ending = Self.parts(name).last.flatMap { Self.endings.contains($0) ? $0 : nil }
        switch content {
        case .program(let format):
            fact = "is a self-extracting archive, a program that contains a \(format.name)"
            remedy = "Send only the archive."
        case .behind(let format, let count):
            fact = "has \(count) bytes before the \(format.name) in it"
            remedy = "Send only the archive."
        case _ where Self.isPart(name):
            fact = "is one part of a split archive, judging by its name"
            remedy = "Join the parts and send the complete archive."
        case .empty:
            guard let ending else { return nil }
            fact = "is named \(ending), but is empty"
            remedy = "Send it again."
        case .text(let what):
            guard let ending else { return nil }
            fact = "is named \(ending), but is \(what)"
            remedy = "Check its download: the server returned this instead."
        case .other:
            guard let ending else { return nil }
            fact = "is named \(ending), but does not start like any archive"
            remedy = "Send it again; if that does not help, recreate it."
        }
    }

    /// Whether a name is one that programs give to the parts of an archive: `x.7z.001`, `x.z01`, `x.part1.rar`,
    /// `x.r00`; also `x.001` where it is known to be one.
    package static func isPart(_ name: [UInt8], isArchive: Bool = false) -> Bool {
        let parts = parts(name)
        guard let last = parts.last else { return false }
        let above = parts.dropLast().last ?? ""
        if above.hasPrefix("part"), last == "rar", isNumber(above.dropFirst(4)) { return true }
        if last.count == 3, last.first == "z" || last.first == "r", isNumber(last.dropFirst()) { return true }
        return last.count >= 2 && isNumber(last) && (isArchive || endings.contains(above))
    }

    private static func isNumber(_ text: some Collection<Character>) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// What follows the first dot of the name's last component, in lower case.
    private static func parts(_ name: [UInt8]) -> [String] {
        let last = name.split(separator: UInt8(ascii: "/")).last ?? []
        return String(decoding: last, as: UTF8.self).lowercased().split(separator: ".").dropFirst().map(String.init)
    }
}

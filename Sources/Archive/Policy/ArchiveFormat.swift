/// What an archive is, going by its content.
package enum ArchiveFormat: Sendable, Hashable {
    /// Holds named entries.
    case container(Container)
    /// A compressed stream: of an archive made for tapes (tar, cpio), or of one file.
    case compressed(Compression)

    /// Formats that hold entries.
    package enum Container: String, Sendable, CaseIterable {
        case zip, sevenZip = "7z", rar, rar5, tar, cpio, ar, iso, cab, xar, lha, rpm
    }

    /// Formats that compress one stream.
    package enum Compression: String, Sendable, CaseIterable {
        case gzip, bzip2, xz, zstd, lz4, lzma, lzip, compress
    }

    /// The format's name for people.
    package var name: String {
        switch self {
        case .container(let container): container.rawValue
        case .compressed(let compression): compression.rawValue
        }
    }

    /// Every format that can be read.
    package static let all: [ArchiveFormat] =
        Container.allCases.filter { $0 != .rar5 }.map { .container($0) } + Compression.allCases.map { .compressed($0) }

    /// The formats that are unpacked unless others are named: those that people exchange and whose readers have a good
    /// record.
    package static let usual: Set<ArchiveFormat> = [
        .container(.zip), .container(.tar), .container(.sevenZip), .container(.cpio), .container(.ar),
        .compressed(.gzip), .compressed(.bzip2), .compressed(.xz), .compressed(.zstd), .compressed(.lz4),
        .compressed(.lzma), .compressed(.compress),
    ]
}

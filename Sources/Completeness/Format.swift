/// The formats that can tell whether a file is whole.
package enum Format: String, CaseIterable, Sendable {
    case zip, sevenZip = "7z", gzip, xz, zstd, bzip2, tar, pdf, png, jpeg, mp4, riff, tiff, xml, json

    private var reader: any FormatReader.Type {
        switch self {
        case .zip: ZipFile.self
        case .sevenZip: SevenZipFile.self
        case .gzip: GzipFile.self
        case .xz: XZFile.self
        case .zstd: ZstdFile.self
        case .bzip2: Bzip2File.self
        case .tar: TarFile.self
        case .pdf: PDFFile.self
        case .png: PNGFile.self
        case .jpeg: JPEGFile.self
        case .mp4: MP4File.self
        case .riff: RIFFFile.self
        case .tiff: TIFFFile.self
        case .xml: XMLFile.self
        case .json: JSONFile.self
        }
    }

    /// What such a file is called, and what ends it.
    var words: (name: String, end: String) {
        switch self {
        case .zip: ("a zip archive", "end record")
        case .sevenZip: ("a 7z archive", "header at its end")
        case .gzip: ("a gzip file", "last block")
        case .xz: ("an xz file", "footer")
        case .zstd: ("a zstd file", "last block")
        case .bzip2: ("a bzip2 file", "end of stream")
        case .tar: ("a tar archive", "end mark")
        case .pdf: ("a PDF", "%%EOF")
        case .png: ("a PNG", "IEND chunk")
        case .jpeg: ("a JPEG", "end of image")
        case .mp4: ("an MP4 or QuickTime file", "movie or media")
        case .riff: ("a RIFF file", "end")
        case .tiff: ("a TIFF", "directory")
        case .xml: ("an XML document", "end tag")
        case .json: ("a JSON document", "closing bracket")
        }
    }

    /// What the file says that a descriptor is open on.
    package static func verdict(on descriptor: Int32) -> Verdict {
        do throws(ReadError) {
            let content = try Content(descriptor)
            for format in allCases {
                guard let finding = try format.reader.examine(content) else { continue }
                switch finding {
                case .whole: return .whole
                case .lacks(let lack): return .lacks(format, lack)
                case .unclear: return .unclear
                }
            }
            return .unknown
        } catch {
            return .unreadable(error.errno)
        }
    }
}

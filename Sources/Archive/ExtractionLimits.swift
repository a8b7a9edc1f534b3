/// How much an archive may make its extractor remember. Files are written as they come, whatever their number; but
/// links are made, and folders get their times, when all files are there, and until then they are kept in memory.
package struct ExtractionLimits: Sendable {
    /// The most symbolic links.
    package var links: Int
    /// The most folders, as far as the archive lists them.
    package var folders: Int
    /// The most bytes of the names of both and the targets of links together.
    package var nameBytes: Int

    /// Limits; with the defaults an extractor stays below about 64 MiB.
    package init(links: Int = 100_000, folders: Int = 100_000, nameBytes: Int = 16 << 20) {
        self.links = links
        self.folders = folders
        self.nameBytes = nameBytes
    }
}

extension ArchiveError {
    static func tooMany(_ fact: String) -> ArchiveError {
        .bad(
            Problem(
                code: .tooMany, entry: nil, fact: fact, remedy: "Split it into several archives.", detail: ""))
    }
}

package import Files

/// What may be sent into an inbox through the page.
package struct UploadRule: Sendable, Hashable {
    /// The most bytes of one file, or of one folder.
    package var most: ByteSize

    /// How many files and folders one folder may have, besides what `max_entries` says.
    package static let mostEntries = 10_000

    package init(most: ByteSize = .maxUpload) { self.most = most }
}

extension ByteSize {
    /// The default of `max_upload`.
    package static let maxUpload = ByteSize(bytes: 4 << 30)
}

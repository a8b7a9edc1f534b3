package import Files

/// What may be sent into an inbox through the page.
package struct UploadRule: Sendable, Hashable {
    /// The most bytes of one file.
    package var most: ByteSize

    package init(most: ByteSize = .maxUpload) { self.most = most }
}

extension ByteSize {
    /// The default of `max_upload`.
    package static let maxUpload = ByteSize(bytes: 4 << 30)
}

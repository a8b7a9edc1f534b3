/// One format: what it looks at is bounded, and nothing of a file is trusted.
protocol FormatReader {
    /// Nil where the file is not of this format.
    static func examine(_ content: Content) throws(ReadError) -> Finding?
}

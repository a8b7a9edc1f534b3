/// How much may come out of one archive, those within it included. What would be more fails it before it is written.
package struct ExtractionLimits: Sendable, Equatable {
    /// Bytes of all files together, holes included.
    package var bytes: Int64 = 10 << 30
    /// Bytes that the file system has left to give: files take them with what their names and ends take besides.
    package var space = Int64.max
    /// Files and folders that it has left to give.
    package var files = Int64.max
    /// Bytes that must stay free on it, whoever else takes the rest meanwhile.
    package var reserve: Int64 = 0
    /// Bytes of one file, holes included; nil: as many as of all.
    package var entry: Int64?
    /// Bytes that come out for each byte that was read, once `ratioGrace` bytes are out.
    package var ratio: Int64 = 100
    /// Below so many bytes nobody asks for the ratio: small archives compress well.
    package var ratioGrace: Int64 = 64 << 20
    /// Entries of any kind.
    package var entries: Int64 = 100_000
    /// Bytes of one name.
    package var name = 255
    /// Bytes of a path.
    package var path = 1024
    /// Folders and the file within each other.
    package var depth = 32
    /// How much of `path` and `depth` is taken by the way to the archive itself, where it lies in another.
    var pathAbove = 0
    var depthAbove = 0

    package init() {}
}

package import SystemPackage

/// A copy of the payload as it was when a stage made it, published with it at settlement.
package struct PayloadCopy: Sendable, Hashable {
    /// The copy: a file that keeps its name, or a folder that becomes `destination`.
    package var path: FilePath
    /// Where the payload was that it is a copy of.
    package var source: FilePath
    /// Whether it is a folder.
    package var isFolder: Bool
    /// What is to lie beside it.
    package var sidecars: [Sidecar]
    /// What lists are to say of it.
    package var lines: [ListLine]
    /// Where it is published, as a payload's `destination`.
    package var destination: FilePath

    package init(
        path: FilePath, of source: FilePath, isFolder: Bool, sidecars: [Sidecar], lines: [ListLine] = [],
        destination: FilePath
    ) {
        self.path = path
        self.source = source
        self.isFolder = isFolder
        self.sidecars = sidecars
        self.lines = lines
        self.destination = destination
    }
}

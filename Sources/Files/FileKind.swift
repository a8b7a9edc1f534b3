package import Platform

/// What an entry of a folder is, as far as it matters here.
package enum FileKind: Sendable, Equatable {
    case regular, folder, symbolicLink
    /// Device, FIFO or socket.
    case special
    /// The file system did not say (some network and old file systems): examine it.
    case unknown

    /// From `d_type` of readdir(3).
    package init(directoryType: UInt8) {
        switch Int32(directoryType) {
        case Int32(DT_REG): self = .regular
        case Int32(DT_DIR): self = .folder
        case Int32(DT_LNK): self = .symbolicLink
        case Int32(DT_UNKNOWN): self = .unknown
        default: self = .special
        }
    }

    /// From `st_mode` of stat(2).
    package init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .regular
        case S_IFDIR: self = .folder
        case S_IFLNK: self = .symbolicLink
        default: self = .special
        }
    }
}

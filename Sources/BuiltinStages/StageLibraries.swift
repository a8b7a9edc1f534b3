import Archive
import Digests
import FileTypes
import Web

/// The libraries that stages run with, for people.
package enum StageLibraries {
    /// `OpenSSL 3.0.17`, `libarchive 3.6.2` and the like. Those that are loaded where a pipeline needs them are loaded
    /// for that; what cannot be is left out.
    package static var versions: [String] {
        DigestLibraries.versions
            + [ArchiveLibrary.version, CurlLibrary.version, MagicLibrary.version].compactMap(\.self)
    }
}

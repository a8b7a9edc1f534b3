import CArchive
import CLinux

/// libarchive, which is loaded when it is first asked for: it brings a dozen others along, and few pipelines need them
/// in the daemon itself.
// @unchecked: immutable once made, what it points to as well; no lock is needed.
package struct ArchiveLibrary: @unchecked Sendable {
    static let shared = ArchiveLibrary()

    /// What can be called; nothing where there is a problem.
    let calls: UnsafePointer<dm_archive_calls>
    /// Why it cannot be loaded, with the remedy.
    let problem: String?

    /// `libarchive 3.6.2`, of the library itself; nil where it cannot be loaded.
    package static var version: String? {
        shared.problem == nil ? libarchive.archive_version_string().map { String(cString: $0) } : nil
    }

    private init() {
        let calls = UnsafeMutablePointer<dm_archive_calls>.allocate(capacity: 1)
        calls.initialize(to: dm_archive_calls())
        let count = MemoryLayout<dm_archive_calls>.size / MemoryLayout<UnsafeRawPointer>.size
        problem = dm_load_library("libarchive.so.13", dm_archive_names(), count, calls).map {
            "libarchive cannot be loaded (\(String(cString: $0))); install it (libarchive13)"
        }
        self.calls = UnsafePointer(calls)
    }
}

/// What can be called of libarchive, where it has no problem.
var libarchive: dm_archive_calls { ArchiveLibrary.shared.calls.pointee }

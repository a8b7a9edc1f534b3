import CLinux
import CMagic

/// libmagic, which is loaded when it is first asked for.
// @unchecked: immutable once made, what it points to as well; no lock is needed.
package struct MagicLibrary: @unchecked Sendable {
    static let shared = MagicLibrary()

    /// What can be called; nothing where there is a problem.
    let calls: UnsafePointer<dm_magic_calls>
    /// Why it cannot be loaded, with the remedy.
    let problem: String?

    /// `libmagic 5.44`, of the library itself; nil where it cannot be loaded.
    package static var version: String? {
        guard shared.problem == nil else { return nil }
        let number = libmagic.magic_version()
        return "libmagic \(number / 100).\(number % 100)"
    }

    private init() {
        let calls = UnsafeMutablePointer<dm_magic_calls>.allocate(capacity: 1)
        calls.initialize(to: dm_magic_calls())
        let count = MemoryLayout<dm_magic_calls>.size / MemoryLayout<UnsafeRawPointer>.size
        problem = dm_load_library("libmagic.so.1", dm_magic_names(), count, calls).map {
            "libmagic cannot be loaded (\(String(cString: $0))); install it (libmagic1)"
        }
        self.calls = UnsafePointer(calls)
    }
}

/// What can be called of libmagic, where it has no problem.
var libmagic: dm_magic_calls { MagicLibrary.shared.calls.pointee }

import CCurl
import CLinux

/// libcurl, which is loaded when it is first asked for: it brings thirty others along.
// @unchecked: immutable once made, what it points to as well; no lock is needed.
struct CurlLibrary: @unchecked Sendable {
    static let shared = CurlLibrary()

    /// What can be called; nothing where there is a problem.
    let calls: UnsafePointer<dm_curl_calls>
    /// Why it cannot be loaded, with the remedy.
    let problem: String?

    private init() {
        let calls = UnsafeMutablePointer<dm_curl_calls>.allocate(capacity: 1)
        calls.initialize(to: dm_curl_calls())
        let count = MemoryLayout<dm_curl_calls>.size / MemoryLayout<UnsafeRawPointer>.size
        problem = dm_load_library("libcurl.so.4", dm_curl_names(), count, calls).map {
            "libcurl cannot be loaded (\(String(cString: $0))); install it (libcurl4)"
        }
        self.calls = UnsafePointer(calls)
    }
}

/// What can be called of libcurl, where it has no problem.
var libcurl: dm_curl_calls { CurlLibrary.shared.calls.pointee }

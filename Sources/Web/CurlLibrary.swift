import CCurl
import CLinux

/// libcurl, which is loaded when it is first asked for: it brings thirty others along.
// @unchecked: immutable once made, what it points to as well; no lock is needed.
package struct CurlLibrary: @unchecked Sendable {
    static let shared = CurlLibrary()

    /// What can be called; nothing where there is a problem.
    let calls: UnsafePointer<dm_curl_calls>
    /// Why it cannot be loaded, with the remedy.
    let problem: String?

    /// `libcurl 7.88.1`, of the library itself; nil where it cannot be loaded.
    package static var version: String? {
        guard shared.problem == nil, let all = libcurl.curl_version() else { return nil }
        // `libcurl/7.88.1 OpenSSL/3.0.17 zlib/1.2.13 …`
        return String(cString: all).split(separator: " ").first.map { word in
            word.split(separator: "/").joined(separator: " ")
        }
    }

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

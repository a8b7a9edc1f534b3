import CLinux
import CPostgres

/// libpq, which is loaded when it is first asked for: who has an embedded journal needs none of it.
// @unchecked: immutable once made, what it points to as well; no lock is needed.
package struct PostgresLibrary: @unchecked Sendable {
    static let shared = PostgresLibrary()

    /// What can be called; nothing where there is a problem.
    let calls: UnsafePointer<dm_pq_calls>
    /// Why it cannot be loaded, with the remedy.
    let problem: String?

    /// `libpq 15.18`, of the library itself; nil where it cannot be loaded.
    package static var version: String? {
        shared.problem == nil ? "libpq \(PostgresError.version(Int(libpq.PQlibVersion())))" : nil
    }

    private init() {
        let calls = UnsafeMutablePointer<dm_pq_calls>.allocate(capacity: 1)
        calls.initialize(to: dm_pq_calls())
        let count = MemoryLayout<dm_pq_calls>.size / MemoryLayout<UnsafeRawPointer>.size
        problem = dm_load_library("libpq.so.5", dm_pq_names(), count, calls).map {
            "libpq cannot be loaded (\(String(cString: $0))); install version 14 or newer of it (libpq5)"
        }
        self.calls = UnsafePointer(calls)
    }
}

/// What can be called of libpq, where it has no problem.
var libpq: dm_pq_calls { PostgresLibrary.shared.calls.pointee }

import CLinux

/// The present status of a name (see `dm_status_now`).
func statusNow(_ folder: Int32, _ name: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<stat>) -> Int32 {
    dm_status_now(folder, name, status)
}

/// The status of a name according to the file system's server (see `dm_status_asked`). `status`: room for a `stat`.
package func statusAsked(_ folder: Int32, _ name: UnsafePointer<CChar>, _ status: UnsafeMutableRawPointer) -> Int32 {
    dm_status_asked(folder, name, status.assumingMemoryBound(to: stat.self))
}

import CLinux

/// What a name stands for by now (see `dm_status_now`).
func statusNow(_ folder: Int32, _ name: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<stat>) -> Int32 {
    dm_status_now(folder, name, status)
}

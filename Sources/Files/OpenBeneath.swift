import CLinux

/// openat2(2) that follows no link and leads nowhere out of the folder (see `dm_open_beneath`).
func openBeneath(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, mode: UInt32) -> Int32 {
    dm_open_beneath(folder, path, flags, mode)
}

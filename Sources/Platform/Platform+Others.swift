// What Linux has and others lack, by the name that it has there.
#if canImport(Darwin)
    package import Darwin

    extension stat {
        package var st_mtim: timespec { st_mtimespec }
        package var st_ctim: timespec { st_ctimespec }
    }
#endif

#if !os(Linux)
    /// No call fails with it.
    package var EREMOTEIO: Int32 { -1 }
#endif
#if os(OpenBSD)
    /// No call fails with it.
    package var ENOLINK: Int32 { -2 }
#endif

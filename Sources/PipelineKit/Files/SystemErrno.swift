import Glibc

/// errno, which SystemPackage does not show.
func systemErrno() -> Int32 { errno }

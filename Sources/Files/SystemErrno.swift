import Platform

/// errno, which SystemPackage does not expose.
func systemErrno() -> Int32 { errno }

import Glibc

/// The file could not be read, with the number of the error.
struct ReadError: Error { let errno: Int32 }

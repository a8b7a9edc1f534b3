@preconcurrency import Glibc
import SystemPackage

/// Where results go.
enum StandardOutput {
    /// Sees to it that 0, 1 and 2 are taken: what is opened later could otherwise become one of them, and be written
    /// to. Without a standard output, writing to it fails.
    static func prepare() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR)
        }
    }

    /// Writes what is left of what was printed. Why not all of it could be written; nil where it was.
    static func finish() -> Errno? {
        errno = 0
        guard fflush(stdout) != 0 || ferror(stdout) != 0 else { return nil }
        return errno == 0 ? .ioError : Errno(rawValue: errno)
    }
}

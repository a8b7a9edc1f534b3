package import Files
import Glibc
package import SystemPackage

/// A wall clock that can be set while a program runs (`Tests/fakeclock/fakeclock.c`); the monotonic clock and the
/// kernel's times of files go on as they are, as they do when somebody really sets the clock.
package struct FakeClock {
    private let file: FilePath
    private static let library = DropmillProcess.built("libfakeclock.so")

    package init(_ file: FilePath) throws(IOError) {
        self.file = file
        try set(days: 0)
    }

    /// Sets the clock so far from the real one.
    package func set(days: Int64) throws(IOError) {
        let file = try OpenFile.open(file, O_WRONLY | O_CREAT, mode: 0o644)
        try file.write(withUnsafeBytes(of: days * 86_400) { Array($0) })
        try file.close()
    }

    package var wrapper: [String] { ["/usr/bin/env", "LD_PRELOAD=\(Self.library.string)", "FAKECLOCK=\(file.string)"] }
}

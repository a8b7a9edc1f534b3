import Glibc
package import SystemPackage

/// The real program.
package enum DropmillBinary {
    /// The binary: `$DROPMILL_BINARY`, else `dropmill` in the folder of the test program itself, where SwiftPM puts
    /// both (on Linux the test bundle is the running program, `/proc/self/exe`).
    package static let path: FilePath = {
        if let path = getenv("DROPMILL_BINARY") { return FilePath(String(cString: path)) }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let program = FilePath(bytes: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) })
        return program.removingLastComponent().appending("dropmill")
    }()
}

import Platform
public import SystemPackage

extension FilePath {
    /// A path of these bytes, which must not contain NUL.
    package init(bytes: some Sequence<UInt8>) {
        var terminated = bytes.map { CChar(bitPattern: $0) }
        terminated.append(0)
        self = terminated.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { FilePath(platformString: $0) } ?? FilePath()
        }
    }

    /// The path's bytes, without a NUL.
    package var bytes: [UInt8] { withBytes { Array($0) } }

    /// Calls the body with the path's bytes in place, without a NUL.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        withPlatformString { pointer in
            UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)).withMemoryRebound(to: UInt8.self, body)
        }
    }

    /// The path of an entry of this folder.
    public func appending(_ name: FileName) -> FilePath {
        withPlatformString { folder in
            let length = strlen(folder)
            // In one piece: a component of its own would be copied three times.
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: length + name.bytes.count + 2) { path in
                guard let base = path.baseAddress else { return self }
                memcpy(base, folder, length)
                var end = length
                if length > 0 {
                    path[end] = CChar(bitPattern: UInt8(ascii: "/"))
                    end += 1
                }
                name.bytes.withUnsafeBytes { bytes in
                    if let bytes = bytes.baseAddress { memcpy(base + end, bytes, name.bytes.count) }
                }
                path[end + name.bytes.count] = 0
                return FilePath(platformString: base)
            }
        }
    }

    /// The last component as a name, or nil for the root.
    package var lastName: FileName? {
        // By bytes, as below.
        withPlatformString { path in
            FileName(cString: strrchr(path, Int32(UInt8(ascii: "/"))).map { UnsafePointer($0 + 1) } ?? path)
        }
    }

    /// The last component as a path from the folder above it on; empty for the root.
    package var lastEntry: FilePath {
        // By bytes: one made of a component is copied a byte at a time.
        withPlatformString { path in
            strrchr(path, Int32(UInt8(ascii: "/"))).map { FilePath(platformString: $0 + 1) } ?? self
        }
    }

    /// Whether both are entries of the same folder.
    package func isBeside(_ other: FilePath) -> Bool {
        // Called for every job. Paths have no redundant slashes, so the folder ends at the last slash.
        func folder(_ path: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>> {
            path.prefix((path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)
        }
        return withBytes { own in other.withBytes { folder(own).elementsEqual(folder($0)) } }
    }

    /// The path as text that is safe to print (see `EscapedText`).
    package var text: String { EscapedText.of(bytes) }

    /// The path from the root on: a relative one begins in the process's current folder.
    package var absolute: FilePath { isAbsolute ? self : Self.currentNow.pushing(self).lexicallyNormalized() }

    /// The path as people in the current folder would write it: without that folder where it lies below it. In the
    /// root, where services run, nobody is.
    package var shortText: String {
        var short = self
        guard Self.current != "/", short.removePrefix(Self.current), !short.isEmpty else { return text }
        return short.text
    }

    /// The process's current folder, which the program never changes.
    private static let current = currentNow

    /// The process's current folder; `.` if it is unknown (deleted).
    private static var currentNow: FilePath {
        guard let pointer = getcwd(nil, 0) else { return "." }
        defer { free(pointer) }
        return FilePath(platformString: pointer)
    }
}

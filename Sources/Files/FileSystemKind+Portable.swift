#if !os(Linux) || DROPMILL_KQUEUE
    import Platform
    package import SystemPackage

    extension FileSystemKind {
        /// The kind of the file system that holds the path; one that cannot be asked counts as local.
        package static func of(_ path: FilePath) -> FileSystemKind {
            #if os(Linux)
                // Its statfs(2) is not visible to Swift, and here it is for tests only.
                return .local
            #else
                var info = statfs()
                guard path.withPlatformString({ statfs($0, &info) }) == 0,
                    UInt64(info.f_flags) & UInt64(MNT_LOCAL) == 0
                else { return .local }
                let name = withUnsafeBytes(of: &info.f_fstypename) { $0.prefix { $0 != 0 }.map(\.self) }
                return .network(EscapedText.of(name))
            #endif
        }
    }
#endif

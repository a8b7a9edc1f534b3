#if os(Linux)
    package import Files
    import Platform
    package import SystemPackage

    /// A program of the system that a test compares with or prepares its files by, such as `sha256sum` or `zip`.
    package struct Tool: Sendable {
        /// The program's file.
        package let path: FilePath

        /// A program by its file.
        package init(_ path: FilePath) { self.path = path }

        /// The program of that name in `PATH`, or at that absolute path; nil where there is none. Tests skip with
        /// `.enabled(if: Tool.find("zip") != nil, Tool.skip("zip"))`, except in CI: see `MissingTools`.
        package static func find(_ name: String) -> Tool? {
            let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
            let folders =
                name.hasPrefix("/") ? [FilePath("/")] : path.split(separator: ":").map { FilePath(String($0)) }
            let found = folders.lazy.map { $0.pushing(FilePath(name)) }
                .first { $0.withPlatformString { access($0, X_OK) } == 0 }
            if found == nil { MissingTools.add(name) }
            return found.map { Tool($0) }
        }

        /// A Python that has these modules: the one of `.build/tools`, of the system, or the first in `PATH`.
        package static func python(with modules: String) -> Tool? {
            let own = FilePath(#filePath).removingLastComponent().pushing("../../.build/tools/bin/python3")
            let found = [Tool(own), Tool("/usr/bin/python3"), find("python3")].compactMap(\.self).first { python in
                do throws(IOError) { return try python.run(["-c", "import \(modules)"]).status == 0 } catch {
                    return false
                }
            }
            if found == nil { MissingTools.add("Python's \(modules)") }
            return found
        }

        /// Why a test that needs the program is skipped.
        package static func skip(_ name: String) -> String {
            "needs \(name); packaging/install-build-deps.sh --test installs it"
        }

        /// What a program left behind.
        package struct Output: Sendable {
            /// The exit status; 128 + the signal where one ended it, as shells have it.
            package let status: Int32
            /// What it wrote to standard output and standard error together, up to 1 MiB.
            package let bytes: [UInt8]

            /// The same as text.
            package var text: String { String(decoding: bytes, as: UTF8.self) }
        }

        /// The most output that is kept.
        private static let mostOutput = 1 << 20

        /// Runs the program to its end and returns what it wrote. Blocks the calling thread.
        package func run(_ arguments: [String] = [], in folder: FilePath? = nil) throws(IOError) -> Output {
            try run(bytes: arguments.map { Array($0.utf8) }, in: folder)
        }

        /// The same with arguments that need not be text.
        package func run(bytes arguments: [[UInt8]], in folder: FilePath? = nil) throws(IOError) -> Output {
            // Into a file, not a pipe: nobody has to read while the program runs, and no other child can hold it open.
            var template = Array("/tmp/dropmill-output.XXXXXX".utf8CString)
            let output = mkstemp(&template)
            guard output >= 0 else { throw IOError("create", "/tmp/dropmill-output", .last) }
            defer { Platform.close(output) }
            unlink(template)
            let process = try ChildProcess.spawn(path, arguments, output: output, error: output, folder: folder)
            let status = try ChildProcess.wait(for: process, of: path)
            return Output(status: status, bytes: contents(of: output))
        }

        private func contents(of descriptor: Int32) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: Self.mostOutput)
            let count = retrying { bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) } }
            return Array(bytes.prefix(max(0, count)))
        }
    }
#endif

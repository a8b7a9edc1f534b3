#if os(Linux)
    import Platform
    import Synchronization

    /// What tests looked for and did not find. Elsewhere they are skipped; in CI (`DROPMILL_CI=1`, set by `.ci/run`),
    /// which installs all of it, the whole run fails.
    enum MissingTools {
        private static let names = Mutex<Set<String>>([])

        /// Notes something that a test looked for in vain.
        static func add(_ name: String) {
            guard let value = getenv("DROPMILL_CI"), String(cString: value) == "1" else { return }
            let isFirst = names.withLock { names in
                defer { names.insert(name) }
                return names.isEmpty
            }
            // A test is skipped for many reasons and in many ways, some before any test runs. So the end of the process
            // is the one place that sees all of them.
            if isFirst { atexit { MissingTools.fail() } }
        }

        private static func fail() -> Never {
            let list = names.withLock { $0.sorted() }.joined(separator: ", ")
            let message =
                "error: tests were skipped for want of: \(list); packaging/install-build-deps.sh --test installs them\n"
            fflush(nil)
            _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
            _exit(1)
        }
    }
#endif

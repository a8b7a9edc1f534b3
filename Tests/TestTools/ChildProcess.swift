#if os(Linux)
    package import Files
    package import Platform
    package import SystemPackage

    /// Starting and awaiting programs (posix_spawn(3), waitpid(2)).
    package enum ChildProcess {
        /// Starts a program with an empty standard input. `output` and `error` stay the caller's.
        package static func spawn(
            _ program: FilePath, _ arguments: [[UInt8]], output: Int32, error: Int32, folder: FilePath? = nil
        ) throws(IOError) -> pid_t {
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, output, 1)
            posix_spawn_file_actions_adddup2(&actions, error, 2)
            // The threads of Dispatch, on which tests run, block every signal; a child is to hear them all.
            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            var none = sigset_t()
            sigemptyset(&none)
            posix_spawnattr_setsigmask(&attributes, &none)
            // Whoever runs the tests in the background has SIGINT ignored, which would be handed on.
            var all = sigset_t()
            sigfillset(&all)
            posix_spawnattr_setsigdefault(&attributes, &all)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
            // posix_spawn cannot change the folder portably; env(1) can, and becomes the program.
            let started: FilePath = folder == nil ? program : "/usr/bin/env"
            let prefix = folder.map { [started.bytes, Array("-C".utf8), $0.bytes] } ?? []
            var argv = (prefix + [program.bytes] + arguments).map { bytes -> UnsafeMutablePointer<CChar>? in
                strdup(bytes.map { CChar(bitPattern: $0) } + [0])
            }
            argv.append(nil)
            defer { for pointer in argv { free(pointer) } }
            var process: pid_t = 0
            let result = started.withPlatformString { posix_spawn(&process, $0, &actions, &attributes, argv, environ) }
            guard result == 0 else { throw IOError("start", program, Errno(rawValue: result)) }
            return process
        }

        /// Waits for the end of a program; returns its exit status, or 128 + the signal that ended it.
        package static func wait(for process: pid_t, of program: FilePath) throws(IOError) -> Int32 {
            var status: Int32 = 0
            guard retrying({ waitpid(process, &status, 0) }) == process else {
                throw IOError("wait for", program, .last)
            }
            return exitStatus(status)
        }

        /// The same, with what it used, all its threads together (wait4(2)).
        package static func waitCounting(
            for process: pid_t, of program: FilePath
        ) throws(IOError) -> (status: Int32, usage: rusage) {
            var (status, usage) = (Int32(0), rusage())
            guard retrying({ wait4(process, &status, 0, &usage) }) == process else {
                throw IOError("wait for", program, .last)
            }
            return (exitStatus(status), usage)
        }

        /// The exit status if the program has ended, else nil. May be asked for once after the end.
        package static func poll(_ process: pid_t, of program: FilePath) throws(IOError) -> Int32? {
            var status: Int32 = 0
            switch retrying({ waitpid(process, &status, WNOHANG) }) {
            case process: return exitStatus(status)
            case 0: return nil
            default: throw IOError("wait for", program, .last)
            }
        }

        /// WIFEXITED and friends, which are macros.
        private static func exitStatus(_ status: Int32) -> Int32 {
            let signal = status & 0x7F
            return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
        }
    }
#endif

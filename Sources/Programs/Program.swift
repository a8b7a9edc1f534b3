import CLinux
import Glibc
package import SystemPackage

/// A program that is run to its end, in a process group of its own, with nothing inherited but what is said here.
///
/// Blocks the calling thread: stages run on queues of their own, where an asynchronous interface would only be waited
/// for.
package struct Program: Sendable {
    /// Its file.
    package var path: FilePath
    /// What it is given as `argv`, its own name first; bytes without NUL.
    package var arguments: [[UInt8]]
    /// Its whole environment, as `KEY=VALUE`.
    package var environment: [[UInt8]]
    /// The folder that it begins in.
    package var folder: FilePath
    /// The files that take what it writes to standard output and standard error. Each keeps the last of it, never more
    /// than `mostBytes`; they are made anew.
    package var output: FilePath, error: FilePath
    /// How long it may go on after SIGTERM, before SIGKILL.
    package var grace: Duration

    /// The most bytes that are kept of each stream.
    package static let mostBytes = 1 << 20

    /// A program.
    package init(
        _ path: FilePath, arguments: [[UInt8]], environment: [[UInt8]], folder: FilePath, output: FilePath,
        error: FilePath, grace: Duration
    ) {
        self.path = path
        self.arguments = arguments
        self.environment = environment
        self.folder = folder
        self.output = output
        self.error = error
        self.grace = grace
    }

    /// How it ended, and what it wrote.
    package struct Outcome: Sendable {
        /// How a process ends.
        package enum End: Sendable, Equatable {
            /// By itself, with this status.
            case exited(Int32)
            /// By this signal.
            case signalled(Int32)
        }

        /// How it ended.
        package let end: End
        /// What it wrote to standard output, and to standard error.
        package let output: Written, error: Written
        /// Whether it was told to stop.
        package let wasStopped: Bool
    }

    /// What it wrote to one stream.
    package struct Written: Sendable {
        /// The last bytes.
        package let tail: [UInt8]
        /// How many there were in all.
        package let count: Int
        /// Why the file does not have the rest.
        package let failure: Errno?
    }

    /// The program's file by its name in a `PATH`; nil where there is none.
    package static func find(_ name: String, in path: String) -> FilePath? {
        path.split(separator: ":").lazy.map { FilePath(String($0)).appending(name) }.first { candidate in
            candidate.withPlatformString { access($0, X_OK) == 0 }
        }
    }

    /// Runs it. `input`: an open file for its standard input; `tail`: how much of what it wrote is
    /// told. `isStopped` is asked every 50 ms; once it says so, the whole group gets SIGTERM and, after `grace`,
    /// SIGKILL. Whatever the program leaves running in its group is killed when it ends. Throws where it cannot be
    /// started.
    package func run(input: Int32, tail: Int, isStopped: () -> Bool) throws(Errno) -> Outcome {
        let files = [try CappedFile(output, most: Self.mostBytes), try CappedFile(error, most: Self.mostBytes)]
        let outputPipe = try Pipe.open()
        let errorPipe = try Pipe.open()
        let process = try start(input: input, output: outputPipe.writing, error: errorPipe.writing)
        var child = Child(
            process: process, pipes: [outputPipe.keepReading(), errorPipe.keepReading()], files: files)
        return child.supervise(grace: grace, tail: tail, isStopped: isStopped)
    }

    private func start(input: Int32, output: Int32, error: Int32) throws(Errno) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard posix_spawn_file_actions_init(&actions) == 0 else { throw .noMemory }
        defer { posix_spawn_file_actions_destroy(&actions) }
        guard posix_spawnattr_init(&attributes) == 0 else { throw .noMemory }
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO)
        let entered = folder.withPlatformString { dm_spawn_in_folder(&actions, $0) }
        guard entered == 0 else { throw Errno(rawValue: entered) }
        let closed = dm_spawn_close_others(&actions)
        guard closed == 0 else { throw Errno(rawValue: closed) }
        // Signals as a shell gives them: the daemon ignores some, and that is inherited.
        var all = sigset_t()
        var none = sigset_t()
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = Int32(POSIX_SPAWN_SETPGROUP) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let argv = CStrings(arguments)
        let envp = CStrings(environment)
        var process: pid_t = 0
        let result = path.withPlatformString {
            posix_spawn(&process, $0, &actions, &attributes, argv.pointers, envp.pointers)
        }
        guard result == 0 else { throw Errno(rawValue: result) }
        return process
    }
}

/// An array of C strings with nil at its end, as exec(3) takes it.
private final class CStrings {
    let pointers: [UnsafeMutablePointer<CChar>?]

    init(_ strings: [[UInt8]]) {
        pointers = strings.map { bytes in strdup(bytes.map { CChar(bitPattern: $0) } + [0]) } + [nil]
    }

    deinit { for pointer in pointers { free(pointer) } }
}

/// A pipe that this process reads from.
private struct Pipe: ~Copyable {
    private var reading: Int32
    let writing: Int32

    private init(reading: Int32, writing: Int32) {
        self.reading = reading
        self.writing = writing
    }

    deinit {
        if reading >= 0 { close(reading) }
        close(writing)
    }

    static func open() throws(Errno) -> Pipe {
        var ends: [Int32] = [-1, -1]
        guard dm_pipe(&ends) == 0 else { throw Errno(rawValue: errno) }
        return Pipe(reading: ends[0], writing: ends[1])
    }

    /// Gives the reading end away and closes the other.
    consuming func keepReading() -> Int32 {
        let end = reading
        reading = -1
        return end
    }
}

import CLinux
import Glibc
package import SystemPackage

/// A program that is run to its end, in a process group of its own, with nothing inherited but what is said here.
///
/// Blocks the calling thread: stages run on queues of their own, where an asynchronous interface would only be waited
/// for.
package struct Program: Sendable {
    package var path: FilePath
    /// What it is given as `argv`, its own name first; bytes without NUL.
    package var arguments: [[UInt8]]
    /// Its whole environment, as `KEY=VALUE`.
    package var environment: [[UInt8]]
    /// The folder that it begins in.
    package var folder: FilePath
    /// The files that take what it writes to standard output and standard error. Each keeps the last of it, never more
    /// than `mostBytes`; they are created again.
    package var output: FilePath, error: FilePath
    /// How long it may go on after SIGTERM, before SIGKILL.
    package var grace: Duration
    /// What it may do; nil: what this process may.
    package var confinement: Confinement?

    /// The most bytes that are kept of each stream.
    package static let mostBytes = 1 << 20

    package init(
        _ path: FilePath, arguments: [[UInt8]], environment: [[UInt8]], folder: FilePath, output: FilePath,
        error: FilePath, grace: Duration, confinement: Confinement? = nil
    ) {
        self.path = path
        self.arguments = arguments
        self.environment = environment
        self.folder = folder
        self.output = output
        self.error = error
        self.grace = grace
        self.confinement = confinement
    }

    /// Why it could not be started.
    package enum StartFailure: Error, Sendable {
        /// The program, or what it needs, could not be had.
        case program(Errno)
        /// What it should be allowed to read.
        case reading(FilePath, Errno)
        /// It could not be confined; `noFunction` where the kernel has no Landlock.
        case confinement(Errno)
    }

    /// How it ended, and what it wrote.
    package struct Outcome: Sendable {
        /// How a process ends.
        package enum End: Sendable, Equatable {
            /// By itself, with this status.
            case exited(Int32)
            case signalled(Int32)
            /// What watched over it was killed, and it with that.
            case lost
        }

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

    /// Runs it. `input`: an open file for its standard input; `tail`: how much of what it wrote is told. `wrote` is
    /// called when it has written something. `isStopped` is asked every 50 ms; once it says so, the whole group gets
    /// SIGTERM and, after `grace`, SIGKILL. Whatever the program leaves running is killed when it ends, and all of it
    /// when this process dies, however it does. Throws where it cannot be started.
    package func run(
        input: Int32, tail: Int, wrote: () -> Void = {}, isStopped: () -> Bool
    ) throws(StartFailure) -> Outcome {
        let files = [
            try Self.starting { () throws(Errno) in try CappedFile(output, most: Self.mostBytes) },
            try Self.starting { () throws(Errno) in try CappedFile(error, most: Self.mostBytes) },
        ]
        let outputPipe = try Self.starting(Pipe.open)
        let errorPipe = try Self.starting(Pipe.open)
        let walls = try confinement?.walls(for: path)
        var lifeline: Int32 = -1
        let argv = CStrings(arguments)
        let envp = CStrings(environment)
        let streams = [input, outputPipe.writing, errorPipe.writing]
        let keeper = path.withPlatformString { path in
            folder.withPlatformString { folder in
                guard let walls else {
                    return dm_spawn_kept(path, argv.pointers, envp.pointers, folder, streams, nil, &lifeline)
                }
                return walls.withConfinement { confinement in
                    dm_spawn_kept(path, argv.pointers, envp.pointers, folder, streams, confinement, &lifeline)
                }
            }
        }
        guard keeper > 0 else {
            let error = Errno(rawValue: errno)
            throw keeper == -2 ? .confinement(error) : .program(error)
        }
        var child = Child(
            keeper: keeper, lifeline: lifeline, pipes: [outputPipe.keepReading(), errorPipe.keepReading()],
            files: files)
        return child.supervise(grace: grace, tail: tail, wrote: wrote, isStopped: isStopped)
    }

    private static func starting<Result: ~Copyable>(
        _ body: () throws(Errno) -> Result
    ) throws(StartFailure) -> Result {
        do throws(Errno) { return try body() } catch { throw .program(error) }
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

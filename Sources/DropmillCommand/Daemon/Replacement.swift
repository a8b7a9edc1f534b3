import Files
import Glibc
import SystemPackage

/// Puts a new process of the same program in the place of this one, under the same number: nothing that it was doing
/// goes on, and what it ran ends with the pipes that led there.
enum Replacement {
    static func begin() -> Never {
        // What is blocked or ignored stays so over an exec.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        execv("/proc/self/exe", CommandLine.unsafeArgv)
        StandardError.print(StandardError.line(of: "cannot restart as a new node: \(Errno.last)"))
        exit(ExitStatus.busy.rawValue)
    }
}

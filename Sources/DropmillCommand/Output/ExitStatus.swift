import ArgumentParser

/// The exit statuses of the contract (sysexits.h has the numbers); 64, for wrong usage, comes from the argument parser.
enum ExitStatus {
    /// `run --once` had failed jobs, or a look-up found nothing.
    static let failure = ExitCode(1)
    /// A bug.
    static let software = ExitCode(70)
    /// What there was to print could not be written.
    static let unwritten = ExitCode(74)
    /// Another instance is running, or a start lacks something that may come back.
    static let busy = ExitCode(75)
    /// The state folder or its daemon is not open to this user.
    static let forbidden = ExitCode(77)
    /// Something in the configuration must be changed first.
    static let configuration = ExitCode(78)
}

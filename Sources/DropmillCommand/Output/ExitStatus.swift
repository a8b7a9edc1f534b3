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

    /// What each means, for people; docs/operating.md says the same.
    static let meanings: [(status: Int32, meaning: String)] = [
        (0, "Success."),
        (
            failure.rawValue,
            """
            A lookup found nothing, or `doctor` found a problem; with `--once`: a job failed or is unfinished, a \
            pipeline is paused or left out, or a drop stays because its marker, manifest or format shows that it is \
            incomplete.
            """
        ),
        (ExitCode.validationFailure.rawValue, "Wrong usage."),
        (software.rawValue, "A bug in Dropmill: please report it."),
        (unwritten.rawValue, "The output could not be written."),
        (
            busy.rawValue,
            """
            Another instance is running, the daemon is stopping (`reload`), or something is lacking that may come \
            back: a disk or room on it, a server, file descriptors.
            """
        ),
        (
            forbidden.rawValue,
            "The state folder, or the daemon that runs, is not open to this user, or not for that."
        ),
        (configuration.rawValue, "A configuration error."),
    ]
}

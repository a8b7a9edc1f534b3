import Files
import Glibc
import PipelineKit
import SystemPackage
import Testing

@Suite("Whose trouble an error is") struct TroubleTests {
    private static let shortages: [Errno] = [
        .noSpace, .diskQuotaExceeded, .readOnlyFileSystem, .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory,
    ]
    private static let places: [Errno] =
        [
            .ioError, .permissionDenied, .notPermitted, .staleNFSFileHandle, .noSuchAddressOrDevice,
            .operationNotSupportedByDevice, .noSuchFileOrDirectory, .notDirectory,
        ] + network
    /// A server that does not answer.
    private static let network: [Errno] = [
        .timedOut, .connectionRefused, .connectionReset, .connectionAbort, .socketNotConnected, .hostIsDown,
        .noRouteToHost, .networkDown, .networkUnreachable, Errno(rawValue: EREMOTEIO), Errno(rawValue: ENOLINK),
        .socketShutdown,
    ]
    private static let gone: [Errno] = [.noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels]
    /// Every number that errno(3) knows on Linux, and some that it does not.
    private static let all = (1...140).map { Errno(rawValue: $0) }

    @Test("Every error about a folder that all drops need pauses", arguments: all)
    func ours(errno: Errno) { #expect(errno.trouble(with: .ours) == .pauses) }

    @Test("An error about a drop pauses nothing but where something of ours is used up", arguments: all)
    func drops(errno: Errno) {
        let expected: Trouble = Self.shortages.contains(errno) ? .pauses : Self.gone.contains(errno) ? .gone : .waits
        #expect(errno.trouble(with: .drop) == expected)
    }

    @Test("An error about a result pauses where the place is to blame, else the job fails", arguments: all)
    func results(errno: Errno) {
        let pauses = (Self.shortages + Self.places).contains(errno)
        #expect(errno.trouble(with: .result) == (pauses ? .pauses : .fails))
        let failure = Failure(IOError("rename", "/p", errno))
        #expect(failure.class == (pauses ? .environment : .file))
    }

    @Test(
        "What a sender can do to her own file makes that file wait",
        arguments: [
            Errno.resourceTemporarilyUnavailable, .improperLink, .textFileBusy, .resourceBusy, Errno(rawValue: 126),
            .notPermitted, .permissionDenied, .ioError, .staleNFSFileHandle, .invalidArgument,
        ])
    func senders(errno: Errno) { #expect(errno.trouble(with: .drop) == .waits) }
}

import Glibc
package import PipelineKit
import SystemPackage

/// Has ClamAV look at every file.
package struct ScanStage: Stage {
    private enum TooLarge: String, CaseIterable, Sendable { case fail, pass }

    private static let standard: FilePath = "/run/clamav/clamd.ctl"
    private static let socket = StageOption<ClamdAddress>(
        "socket", "where clamd listens: a path (LocalSocket in clamd.conf), or HOST:PORT (TCPSocket)",
        takes: "a path, or HOST:PORT", default: .local(standard), shown: standard.string
    ) { (node, context) throws(OptionProblem) in try ClamdAddress(node, in: context) }
    private static let tooLarge = StageOption<TooLarge>.choice(
        "too_large", "what a file is that is larger than clamd takes (StreamMaxLength)", default: .fail)

    private static let stalling = StageOption<Duration>.duration(
        "stall_timeout", "how long clamd may say nothing about a file", default: .seconds(300))

    /// Files of up to so many bytes are handed to a clamd of this host as they are (FILDES); larger ones are sent. What
    /// is handed over and exceeds clamd's MaxFileSize it calls clean without looking, where what is sent and exceeds
    /// StreamMaxLength is an error; and no clamd is set up by its packagers with a MaxFileSize below this.
    private static let largestHanded = 25 << 20

    package static let descriptor = StageDescriptor(
        kind: "scan",
        summary: "Has ClamAV's clamd look at every file; an infected one fails, with what was found.",
        options: [socket.erased, tooLarge.erased, stalling.erased],
        example: "scan: { socket: /run/clamav/clamd.ctl }")

    private let socket: ClamdAddress
    private let tooLarge: TooLarge
    private let stalling: Duration

    package init(options: StageOptions) throws(OptionProblem) {
        socket = try options.value(Self.socket)
        tooLarge = try options.value(Self.tooLarge)
        stalling = try options.value(Self.stalling)
    }

    package func run(_ payload: Payload, in context: StageContext) throws(StageFailure) -> Payload {
        try context.checkCancelled()
        let files = try StageFailure.onIOError { () throws(IOError) in try context.files(of: payload) }
        let linked = LinkedFiles<ClamdClient.Verdict>()
        _ = try context.concurrently(files) { (file) throws(StageFailure) in
            try scan(file, payload, linked, context)
        }
        return payload
    }

    private func scan(
        _ file: TreeFile, _ payload: Payload, _ linked: LinkedFiles<ClamdClient.Verdict>, _ context: StageContext
    ) throws(StageFailure) {
        let verdict: ClamdClient.Verdict
        do throws(IOError) {
            let status = try context.open(file, of: payload).status()
            verdict = try linked.value(of: status) { () throws(IOError) in try ask(file, of: payload, status, context) }
        } catch {
            try context.checkCancelled()
            guard error.path == socket.path else { throw StageFailure(inStage: error) }
            throw Self.away("\(error)")
        }
        context.progress.add(entries: 1)
        let isDrop = payload.shape != .folder
        let name = isDrop ? "'\(context.drop.name)'" : "'\(file.relative.text)' of '\(context.drop.name)'"
        switch verdict {
        case .clean: return
        case .infected(let what):
            throw .file(
                "scan.infected", "\(name) is infected: \(EscapedText.printable(what)).",
                remedy: "Do not open it; ask whoever sent it.", detail: EscapedText.printable(what))
        case .tooLarge:
            if tooLarge == .pass {
                return context.notes.add("\(name) is larger than clamd takes; it was not looked at")
            }
            throw .file(
                "scan.too-large", "\(name) is larger than clamd takes, so nobody knows whether it is clean.",
                remedy:
                    "Raise StreamMaxLength, MaxFileSize and MaxScanSize in clamd.conf together (beyond the last two it "
                    + "calls files clean without a look, unless AlertExceedsMax is set), or set 'too_large: pass'.")
        case .trouble(let words): throw Self.away(EscapedText.printable(words))
        }
    }

    /// What clamd says of a file. One that cannot take open files (it is behind something that forwards bytes) is sent
    /// what it holds.
    private func ask(
        _ file: TreeFile, of payload: Payload, _ status: stat, _ context: StageContext
    ) throws(IOError) -> ClamdClient.Verdict {
        if case .local = socket, status.st_size <= Self.largestHanded {
            let verdict = try connected(context).look(at: try context.open(file, of: payload))
            context.progress.add(bytes: Int64(status.st_size))
            guard case .trouble = verdict else { return verdict }
        }
        return try connected(context).scan(try context.open(file, of: payload)) { count in
            context.progress.add(bytes: Int64(count))
        }
    }

    private func connected(_ context: StageContext) throws(IOError) -> ClamdClient {
        try ClamdClient.connect(to: socket, patience: stalling) { context.cancellation.isCancelled }
    }

    private static func away(_ words: String) -> StageFailure {
        StageFailure(
            .environment, code: "scan.clamd", summary: "ClamAV's clamd does not answer as it should.",
            remedy:
                "Start clamav-daemon, and let the user that Dropmill runs as use its socket; work goes on by itself.",
            detail: words.isEmpty ? "no answer" : words)
    }
}

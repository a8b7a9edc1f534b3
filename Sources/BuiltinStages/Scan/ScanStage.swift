import Files
import Glibc
import PipelineKit
import SystemPackage

/// Scans every file with ClamAV.
struct ScanStage: OwnStage {
    private enum TooLarge: String, CaseIterable, Sendable { case fail, pass }

    private static let standard: FilePath = "/run/clamav/clamd.ctl"
    private static let socket = StageOption<ClamdAddress>(
        "socket", "clamd's address: a path (LocalSocket in clamd.conf), or HOST:PORT (TCPSocket)",
        takes: "a path, or HOST:PORT", default: .local(standard), shown: standard.string, schema: .pattern(".")
    ) { (node, context) throws(OptionProblem) in try ClamdAddress(node, in: context) }
    private static let tooLarge = StageOption<TooLarge>.choice(
        "too_large", "what happens to a file that is larger than clamd scans (MaxFileSize, StreamMaxLength)",
        default: .fail)

    private static let stalling = StageOption<Duration>.duration(
        "stall_timeout", "how long clamd may take to answer about a file", default: .seconds(300))

    static let descriptor = StageDescriptor(
        kind: "scan",
        summary: "Scans every file with ClamAV's clamd; an infected file fails, with the name of the signature.",
        options: [socket.erased, tooLarge.erased, stalling.erased],
        example: "scan: { socket: /run/clamav/clamd.ctl }")

    let socket: ClamdAddress
    private let tooLarge: TooLarge
    private let stalling: Duration
    /// What it looks at of what it is handed, and of what it is sent.
    private let handed = ClamdReach(), sent = ClamdReach()

    init(options: StageOptions) throws(OptionProblem) {
        socket = try options.value(Self.socket)
        tooLarge = try options.value(Self.tooLarge)
        stalling = try options.value(Self.stalling)
    }

    func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        try context.checkCancelled()
        let files = try Failure.onIOError { () throws(IOError) in try context.files(of: payload) }
        let linked = LinkedFiles<ClamdClient.Verdict>()
        _ = try context.concurrently(files) { (file) throws(Failure) in
            try scan(file, payload, linked, context)
        }
        return payload
    }

    private func scan(
        _ file: TreeFile, _ payload: Payload, _ linked: LinkedFiles<ClamdClient.Verdict>, _ context: StageContext
    ) throws(Failure) {
        let verdict: ClamdClient.Verdict
        do throws(IOError) {
            let status = try context.open(file, of: payload).status()
            verdict = try linked.value(of: status) { () throws(IOError) in try ask(file, of: payload, status, context) }
        } catch {
            try context.checkCancelled()
            guard error.path == socket.path else { throw Failure(inStage: error) }
            throw Self.away("\(error)")
        }
        context.work.progress.add(entries: 1)
        let isDrop = payload.shape != .folder
        let name = isDrop ? "'\(context.job.drop.name)'" : "'\(file.relative.text)' of '\(context.job.drop.name)'"
        switch verdict {
        case .clean: return
        case .infected(let what):
            throw .file(
                "scan.infected", "\(name) is infected: \(EscapedText.printable(what)).",
                remedy: "Do not open it; ask the sender.", detail: EscapedText.printable(what))
        case .tooLarge:
            if tooLarge == .pass {
                return context.work.notes.add("\(name) is larger than clamd's limit; it was not scanned")
            }
            throw .file(
                "scan.too-large", "\(name) is larger than clamd's limit, so it was not scanned.",
                remedy:
                    "Raise StreamMaxLength, MaxFileSize and MaxScanSize in clamd.conf together, or set "
                    + "'too_large: pass'.")
        case .trouble(let words): throw Self.away(EscapedText.printable(words))
        }
    }

    /// What clamd says of a file. One on this host is handed it as it is (FILDES); one that cannot take open files (it
    /// is behind something that forwards bytes) is sent what it holds.
    private func ask(
        _ file: TreeFile, of payload: Payload, _ status: stat, _ context: StageContext
    ) throws(IOError) -> ClamdClient.Verdict {
        if case .local = socket {
            let verdict = try connected(context).look(at: try context.open(file, of: payload))
            context.work.progress.add(bytes: Int64(status.st_size))
            if case .trouble = verdict {
            } else {
                return try proved(verdict, Int64(status.st_size), isSent: false, context)
            }
        }
        let verdict = try connected(context).scan(try context.open(file, of: payload)) { count in
            context.work.progress.add(bytes: Int64(count))
        }
        return try proved(verdict, Int64(status.st_size), isSent: true, context)
    }

    /// A file is clean only if clamd looks at files of its size.
    private func proved(
        _ verdict: ClamdClient.Verdict, _ size: Int64, isSent: Bool, _ context: StageContext
    ) throws(IOError) -> ClamdClient.Verdict {
        guard verdict == .clean else { return verdict }
        let covered = try (isSent ? sent : handed).covers(size) { (size) throws(IOError) in
            let folder: FilePath
            do throws(Failure) { folder = try context.makeScratch() } catch { return .trouble(error.summary) }
            return try trial(size, in: folder, isSent: isSent) { context.work.cancellation.isCancelled }
        }
        switch covered {
        case .success(let isLookedAt): return isLookedAt ? .clean : .tooLarge
        case .failure(let trouble): return .trouble(trouble.words)
        }
    }

    /// Gives clamd a file of a size in which there is something to be found.
    func trial(
        _ size: Int64, in folder: FilePath, isSent: Bool, unless isStopped: @escaping () -> Bool
    ) throws(IOError) -> ClamdReach.Finding {
        let sample = try ClamdReach.makeSample(of: size, in: folder)
        let client = try ClamdClient.connect(to: socket, patience: stalling, isStopped: isStopped)
        return ClamdReach.Finding(isSent ? try client.scan(sample) { _ in } : try client.look(at: sample))
    }

    private func connected(_ context: StageContext) throws(IOError) -> ClamdClient {
        try ClamdClient.connect(to: socket, patience: stalling) { context.work.cancellation.isCancelled }
    }

    private static func away(_ words: String) -> Failure {
        Failure(
            .environment, code: "scan.clamd", summary: "ClamAV's clamd does not answer correctly.",
            remedy:
                "Start clamav-daemon, and give Dropmill's user access to its socket; processing resumes by itself.",
            detail: words.isEmpty ? "no answer" : words)
    }
}

import Glibc
package import PipelineKit
import SystemPackage

/// Has ClamAV look at every file.
package struct ScanStage: Stage {
    private enum TooLarge: String, CaseIterable, Sendable { case fail, pass }

    private static let socket = StageOption<FilePath?>.file(
        "socket", "clamd's socket (LocalSocket in clamd.conf)", default: "/run/clamav/clamd.ctl")
    private static let tooLarge = StageOption<TooLarge>.choice(
        "too_large", "what a file is that is larger than clamd takes (StreamMaxLength)", default: .fail)

    package static let descriptor = StageDescriptor(
        kind: "scan",
        summary: "Has ClamAV's clamd look at every file; an infected one fails, with what was found.",
        options: [socket.erased, tooLarge.erased],
        example: "scan: { socket: /run/clamav/clamd.ctl }")

    private let socket: FilePath
    private let tooLarge: TooLarge

    package init(options: StageOptions) throws(OptionProblem) {
        socket = try options.value(Self.socket) ?? "/run/clamav/clamd.ctl"
        tooLarge = try options.value(Self.tooLarge)
    }

    package func run(_ payload: Payload, in context: StageContext) throws(StageFailure) -> Payload {
        try context.checkCancelled()
        let files = try StageFailure.onIOError { () throws(IOError) in try payload.files() }
        _ = try context.concurrently(files) { (file) throws(StageFailure) in
            try scan(file, payload, context)
        }
        return payload
    }

    private func scan(_ file: TreeFile, _ payload: Payload, _ context: StageContext) throws(StageFailure) {
        let source = try StageFailure.onIOError { () throws(IOError) in
            try OpenFile.open(payload.path(of: file), O_RDONLY | O_NOFOLLOW)
        }
        let verdict: ClamdClient.Verdict
        do throws(IOError) {
            let client = try ClamdClient.connect(to: socket) { context.cancellation.isCancelled }
            verdict = try client.scan(source) { context.progress.add(bytes: Int64($0)) }
        } catch {
            try context.checkCancelled()
            guard error.path == socket else { throw StageFailure(inStage: error) }
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
                remedy: "Raise StreamMaxLength in clamd.conf, or set 'too_large: pass'.")
        case .trouble(let words): throw Self.away(EscapedText.printable(words))
        }
    }

    private static func away(_ words: String) -> StageFailure {
        StageFailure(
            .environment, code: "scan.clamd", summary: "ClamAV's clamd does not answer as it should.",
            remedy:
                "Start clamav-daemon, and let the user that Dropmill runs as use its socket; work goes on by itself.",
            detail: words.isEmpty ? "no answer" : words)
    }
}

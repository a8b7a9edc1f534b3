import Files
import PipelineKit
import SystemPackage

extension ScanStage {
    private static let patience = Duration.seconds(5)

    /// Just above what clamd's limits are as it comes: MaxFileSize, StreamMaxLength and MaxScanSize of its versions.
    /// No clamd looks at more than 2 GiB.
    private static let sizes: [Int64] = [1 << 20, 10 << 20, 25 << 20, 100 << 20, 400 << 20, 1000 << 20, 2000 << 20]
    /// What is sent rather than handed over takes long.
    private static let mostSent: Int64 = 100 << 20

    func examine(in bench: FilePath?) -> [Finding] {
        do throws(IOError) {
            let words = try ClamdClient.connect(to: socket, patience: Self.patience) { false }.version()
            guard words.hasPrefix("ClamAV") else {
                return [
                    .problem(
                        .service, "the service at '\(socket.path.text)' is not clamd: \(EscapedText.printable(words))",
                        "Use clamd's own socket (LocalSocket or TCPSocket in clamd.conf)")
                ]
            }
            let found = Finding.good(.service, "\(EscapedText.printable(words)) answers at '\(socket.path.text)'")
            guard let bench else { return [found] }
            return [found, try reach(in: bench)]
        } catch {
            return [
                .problem(
                    .service, "clamd does not answer: \(error)",
                    "Start clamav-daemon, and give Dropmill's user access to its socket")
            ]
        }
    }

    /// Up to which size it finds something, and whether it says so of what it does not look at.
    private func reach(in bench: FilePath) throws(IOError) -> Finding {
        func trial(_ size: Int64, isSent: Bool) throws(IOError) -> ClamdReach.Finding {
            try self.trial(size, in: bench, isSent: isSent) { false }
        }
        var isSent = true
        if case .local = socket { isSent = false }
        var first = try trial(0, isSent: isSent)
        if !isSent, case .trouble = first { (first, isSent) = (try trial(0, isSent: true), true) }
        guard first == .found else {
            let words: String
            if case .trouble(let own) = first { words = own } else { words = "it reports the EICAR test file as clean" }
            return .problem(
                .service, "clamd does not detect what it should: \(EscapedText.printable(words))",
                "Check that its signatures are installed (freshclam)")
        }
        var largest: Int64 = 0
        for size in Self.sizes where !isSent || size <= Self.mostSent {
            switch try trial(size.addingSaturated(1), isSent: isSent) {
            case .found: largest = size
            case .told:
                return .good(.service, "\(Self.within(largest)); it reports larger ones as too large")
            case .missed:
                return .note(
                    .service,
                    "\(Self.within(largest)); it reports larger ones as clean unscanned, and 'scan' treats them as too "
                        + "large",
                    "Set AlertExceedsMax in clamd.conf, so that it also reports this for files inside archives")
            case .trouble(let words):
                return .problem(
                    .service, "clamd fails on \(ByteSize(bytes: size)): \(EscapedText.printable(words))",
                    "Check its log")
            }
        }
        return .good(.service, Self.within(largest))
    }

    private static func within(_ size: Int64) -> String {
        size > 0 ? "it scans files of more than \(ByteSize(bytes: size))" : "it scans only small files"
    }
}

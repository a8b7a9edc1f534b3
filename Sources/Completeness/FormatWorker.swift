import CLinux
import Helpers

/// The process that looks whether files are whole: it can open nothing, and looks at one file after the other that the
/// daemon has opened for it.
package enum FormatWorker {
    /// The most memory besides that which the program itself takes.
    private static let memory: UInt64 = 256 << 20

    /// Makes helpers as the daemon orders them, until it goes.
    package static func run() -> Never {
        FileWorker.prepare()
        _ = Verdict(packet: Verdict.lacks(.zip, .end).packet)
        dm_serve_helpers("dropmill-formats") { FormatWorker.help() }
    }

    private static func help() -> Never {
        FileWorker.answer(memory: memory, seconds: FormatHelpers.secondsPerFile) { Format.verdict(on: $0).packet }
    }
}

import PipelineConfig
import PipelineKit
import Testing

@testable import DropmillCommand

/// The command line wins over `dropmill.yaml`.
@Suite struct DaemonFlagsTests {
    private var settings: ServiceSettings {
        var settings = ServiceSettings()
        settings.history.failed = .seconds(60)
        settings.history.jobs = 7
        (settings.log.format, settings.log.level) = (.text, .warning)
        return settings
    }

    @Test func whatIsGivenWins() {
        let flags = DaemonFlags(keepHistory: .seconds(99), logFormat: .json, logLevel: .debug)
        let history = flags.history(settings)
        #expect([history.processed, history.failed, history.cancelled].allSatisfy { $0 == .seconds(99) })
        #expect(history.jobs == 7, "the rest stays")
        #expect(flags.log(settings).format == .json && flags.log(settings).level == .debug)
    }

    @Test func whatIsNotGivenIsAsTheFileSays() {
        #expect(DaemonFlags().history(settings) == settings.history)
        #expect(DaemonFlags().log(settings) == settings.log)
    }
}

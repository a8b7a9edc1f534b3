import PipelineConfig
import PipelineKit

/// What the command line says of a daemon's settings; it wins over `dropmill.yaml`, also after a reload.
struct DaemonFlags: Sendable {
    var keepHistory: Duration?
    var logFormat: LogSettings.Format?
    var logLevel: LogSettings.Level?

    func history(_ settings: ServiceSettings) -> HistoryRule { settings.history.keeping(all: keepHistory) }

    func log(_ settings: ServiceSettings) -> LogSettings {
        var log = settings.log
        log.format = logFormat ?? log.format
        log.level = logLevel ?? log.level
        return log
    }
}

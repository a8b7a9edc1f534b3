import Files
import PipelineConfig
import PipelineEngine
import PipelineKit

extension Reloader {
    /// Puts what was read in force in a daemon: the pipelines and who may ask, or neither.
    static func applying(
        to engine: Engine, _ control: ControlServer?, _ notify: NotifyService, _ prune: PruneService,
        _ flags: DaemonFlags, _ log: JobLog,
        warn: @escaping @Sendable (String) -> Void
    ) -> Apply {
        { @Sendable pipelines, settings, news throws(EngineError) in
            let before = try engine.admit(settings.controlGroup)
            var reloaded: Reloaded
            do throws(EngineError) {
                reloaded = try engine.reload(pipelines, settings: news)
            } catch {
                // Why it is refused matters more than this.
                do throws(EngineError) { _ = try engine.admit(before) } catch { warn(error.message) }
                throw error
            }
            engine.setStall(settings.stall)
            engine.setJobsAtOnce(settings.jobsAtOnce)
            prune.use(pipelines)
            engine.keepHistory(flags.history(settings))
            log.setLevel(flags.log(settings).lowest)
            notify.use(settings.notify)
            reloaded.warnings += settings.notify.warnings(among: pipelines.map(\.name))
            if flags.log(settings).format ?? .auto != log.format {
                reloaded.warnings.append("'log.format' is in force from the daemon's next start on")
            }
            do throws(IOError) {
                try control?.admit(ControlAccess(settings))
            } catch {
                let whom = settings.controlGroup.map { "members of the group \(AccountName.group($0))" }
                warn("\(error); \(whom ?? "others than its user") may reach this daemon differently than it is set")
            }
            return reloaded
        }
    }
}

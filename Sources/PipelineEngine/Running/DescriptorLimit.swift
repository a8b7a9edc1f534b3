import Glibc

/// How many descriptors the process may have, and how many it takes. With too few the pipelines take them from each
/// other and none goes on, so that is found out before the start.
enum DescriptorLimit {
    /// What each pipeline has open while nothing happens: its inbox, watch, work folder, locks and timers.
    static let pipeline = 7
    /// What the process has open for itself, with some for jobs to work with.
    static let process = 48

    /// Throws where there are too few.
    static func check(pipelines: Int) throws(EngineError) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let (needed, overflow) = pipelines.multipliedReportingOverflow(by: pipeline)
        guard overflow || UInt64(needed + process) > UInt64(limit.rlim_cur) else { return }
        throw EngineError(
            kind: .shortage,
            message: "\(pipelines == 1 ? "1 pipeline needs" : "\(pipelines) pipelines need") about "
                + "\(needed &+ process) descriptors, and this process is limited to \(limit.rlim_cur): "
                + FolderError.descriptors)
    }
}

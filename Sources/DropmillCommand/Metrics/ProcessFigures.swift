import Files
import Glibc
import PipelineKit
import SystemPackage

/// What a process takes of the machine: the metrics that every program for Prometheus has. Of proc(5).
struct ProcessFigures: Equatable {
    var processorSeconds = 0.0
    var residentBytes = 0.0, virtualBytes = 0.0
    var openFiles = 0.0, mostFiles = 0.0

    /// This process; nil where there is no /proc.
    static func read() -> ProcessFigures? {
        var figures = ProcessFigures()
        var used = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0 else { return nil }
        let processor = Timestamp(seconds: used.tv_sec, nanoseconds: used.tv_nsec)
        figures.processorSeconds = Double(processor.nanoseconds) / 1e9
        do throws(IOError) {
            let words = String(decoding: try SmallFile.read("/proc/self/statm", atMost: 4096), as: UTF8.self)
                .split(separator: " ").compactMap { Double($0) }
            guard words.count > 1 else { return nil }
            let page = Double(sysconf(Int32(_SC_PAGESIZE)))
            (figures.virtualBytes, figures.residentBytes) = (words[0] * page, words[1] * page)
            figures.openFiles = Double(try Folder.names(in: "/proc/self/fd").count)
        } catch {
            return nil
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            figures.mostFiles = Double(limit.rlim_cur)
        }
        return figures
    }

    func families(startedAt: Double) -> [MetricFamily] {
        func family(_ name: String, _ help: String, _ value: Double, _ kind: MetricFamily.Kind = .gauge) -> MetricFamily
        {
            MetricFamily(
                name: name, kind: kind, help: help,
                samples: [.init(suffix: kind == .counter ? "_total" : "", value: value)])
        }
        return [
            family("process_cpu_seconds", "Time of processors that the daemon has used.", processorSeconds, .counter),
            family("process_resident_memory_bytes", "Memory that the daemon has in use.", residentBytes),
            family("process_virtual_memory_bytes", "Addresses that the daemon has in use.", virtualBytes),
            family("process_open_fds", "Descriptors that the daemon has open.", openFiles),
            family("process_max_fds", "Descriptors that the daemon may have open.", mostFiles),
            family("process_start_time_seconds", "When the daemon was started.", startedAt),
        ]
    }
}

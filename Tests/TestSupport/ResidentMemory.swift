import PipelineKit

/// What this process has in memory.
package enum ResidentMemory {
    /// Bytes, files left out (`RssAnon` of proc_pid_status(5)).
    package static func anonymous() throws -> Int { try value("RssAnon:") }

    /// The most bytes that there ever were, files included (`VmHWM`).
    package static func peak() throws -> Int { try value("VmHWM:") }

    private static func value(_ key: String) throws -> Int {
        let text = String(decoding: try SmallFile.read("/proc/self/status", atMost: 1 << 16), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix(key) } ?? ""
        return 1024 * (Int(line.filter(\.isNumber)) ?? 0)
    }
}

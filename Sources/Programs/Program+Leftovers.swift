package import Glibc

extension Program {
    /// Kills every process that was started with this variable (`KEY=VALUE`) in its environment, as far as that can be
    /// seen, and waits for their ends. Returns those that are left after `patience`, or once `isStopped` says so.
    package static func killAll(
        having variable: [UInt8], within patience: Duration, isStopped: () -> Bool
    ) -> [pid_t] {
        let begun = ContinuousClock.now
        while true {
            let left = processes(having: variable)
            if left.isEmpty || isStopped() || ContinuousClock.now - begun > patience { return left }
            for process in left { kill(process, SIGKILL) }
            poll(nil, 0, 20)
        }
    }

    private static func processes(having variable: [UInt8]) -> [pid_t] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        var found: [pid_t] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let process = pid_t(name), process != getpid() else { continue }
            if environment(of: process).split(separator: 0).contains(where: { $0.elementsEqual(variable) }) {
                found.append(process)
            }
        }
        return found
    }

    /// What a process was started with; nothing for one that is over, or another user's.
    private static func environment(of process: pid_t) -> [UInt8] {
        let file = open("/proc/\(process)/environ", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return bytes }
            bytes += buffer[..<count]
        }
    }
}

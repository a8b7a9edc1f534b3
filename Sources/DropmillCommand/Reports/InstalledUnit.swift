import Doctor
import Glibc

/// The unit of systemd that is installed, with the drop-ins in force.
enum InstalledUnit {
    /// As systemctl(1) has it; empty where there is none.
    static func read() -> ServiceUnit {
        guard let pipe = popen("systemctl cat --no-pager dropmill.service 2>/dev/null", "r") else {
            return ServiceUnit("")
        }
        defer { pclose(pipe) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { text += buffer[..<count] }
        return ServiceUnit(String(decoding: text, as: UTF8.self))
    }
}

import Files
import Glibc
import PipelineKit
import SystemPackage

/// A file of passwords, one to a line.
enum PasswordsFile {
    private static let mostBytes = 64 << 10
    /// More would take long to try, and do not fit into what a helper is told.
    private static let mostPasswords = 4000

    /// Reads it; empty lines do not count.
    static func read(_ path: FilePath) throws(Failure) -> [[UInt8]] {
        let (bytes, mode) = try contents(of: path)
        guard mode & 0o077 == 0 else {
            throw environment(
                "The password file '\(path.text)' is readable by users other than its owner.",
                remedy: "Restrict it to its owner (chmod 600); processing resumes by itself.")
        }
        guard bytes.count <= mostBytes else {
            throw environment(
                "The password file '\(path.text)' has more than \(mostBytes) bytes.",
                remedy: "Shorten it; processing resumes by itself.")
        }
        let lines = bytes.split(separator: 0x0A).map { Array($0.last == 0x0D ? $0.dropLast() : $0) }
        guard lines.count <= mostPasswords else {
            throw environment(
                "The password file '\(path.text)' has more than \(mostPasswords) lines.",
                remedy: "Shorten it; processing resumes by itself.")
        }
        return lines.filter { !$0.isEmpty }
    }

    /// As much of the file as shows whether it is too long, and its mode.
    private static func contents(of path: FilePath) throws(Failure) -> (bytes: [UInt8], mode: mode_t) {
        do throws(IOError) {
            let file = try OpenFile.open(path, O_RDONLY)
            var buffer = [UInt8](repeating: 0, count: mostBytes + 1)
            let descriptor = file.descriptor
            let count = retrying { Glibc.read(descriptor, &buffer, buffer.count) }
            guard count >= 0 else { throw IOError("read", path, .last) }
            return (Array(buffer[..<count]), try file.status().st_mode)
        } catch {
            // The drop is not at fault.
            throw environment(
                "The password file cannot be used: \(error).", remedy: "Create it; processing resumes by itself.")
        }
    }

    private static func environment(_ summary: Sentence, remedy: Sentence) -> Failure {
        Failure(.environment, code: "unpack.passwords", summary: summary, remedy: remedy)
    }
}

import Files
import Glibc
import TestSupport
import Testing

/// Who runs the daemon.
enum DaemonUser: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case caller, ordinary

    var testDescription: String { rawValue }

    /// An ordinary user who may reach the program, too, if the tests are root's.
    static let possible: [DaemonUser] = {
        guard geteuid() == 0, let setpriv = Tool.find("setpriv") else { return [.caller] }
        let reaches: Tool.Output?
        do throws(IOError) {
            reaches = try setpriv.run(ordinaryUser + [DropmillProcess.binary.string, "--version"])
        } catch {
            reaches = nil
        }
        return reaches?.status == 0 ? allCases : [.caller]
    }()

    private static let ordinaryUser = ["--reuid=65534", "--regid=65534", "--clear-groups"]

    var wrapper: [String] { self == .caller ? [] : ["/usr/bin/setpriv"] + Self.ordinaryUser }
}

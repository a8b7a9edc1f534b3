import Files
import Glibc
package import Journal
package import PipelineKit
package import SystemPackage

/// Sends messages by all ways that there are.
package struct NoticeSender: NoticeSending {
    /// Where programs' streams are kept while they run.
    private let folder: FilePath
    /// The variables that programs are given, and found by.
    private let environment: [String: String]
    private let host: String

    package init(folder: FilePath, environment: [String: String]) {
        (self.folder, self.environment) = (folder, environment)
        host = Self.hostName
    }

    package func send(
        _ notice: Notice, to target: NotifyTarget, isStopped: @escaping @Sendable () -> Bool
    ) -> Delivery {
        let message = Message(notice, host: host, at: .now())
        return switch target.way {
        case .ntfy, .apprise, .webhook: WebSender(target, isStopped).send(message)
        case .mail, .run: ProgramSender(folder, environment, isStopped).send(message, to: target)
        }
    }

    package func ping(
        _ ping: NotifyPing, _ problems: [String], isStopped: @escaping @Sendable () -> Bool
    ) -> Delivery {
        WebSender(url: ping.url, insecure: ping.insecure, isStopped).ping(problems)
    }

    /// Why nothing can be sent there, as far as that can be told without sending; nil where that is nothing.
    package static func problem(with target: NotifyTarget, _ environment: [String: String]) -> String? {
        switch target.way {
        case .ntfy, .apprise, .webhook: WebSender.problem
        case .mail, .run: ProgramSender.problem(with: target, environment)
        }
    }

    /// What an earlier run has left is removed.
    package func tidy() {
        ProgramSender(folder, environment) { @Sendable in true }.tidy()
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return EscapedText.printable(String(decoding: bytes, as: UTF8.self))
    }
}

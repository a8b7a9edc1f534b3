import Files
import Glibc
import PipelineKit
import Programs
import SystemPackage

/// Sends messages by programs: `sendmail -t`, and any other that reads JSON.
struct ProgramSender {
    /// How long one may run, and then how long it may go on.
    static let patience = Duration.seconds(60), grace = Duration.seconds(5)
    /// Of what it writes so much is told.
    private static let mostSaid = 300
    private static let mailPlaces = "/usr/sbin:/usr/lib:/usr/local/sbin"

    private let folder: FilePath
    private let environment: [String: String]
    private let isStopped: @Sendable () -> Bool

    init(_ folder: FilePath, _ environment: [String: String], _ isStopped: @escaping @Sendable () -> Bool) {
        (self.folder, self.environment, self.isStopped) = (folder, environment, isStopped)
    }

    /// Why nothing can be sent by it; nil where its program is there.
    static func problem(with target: NotifyTarget, _ environment: [String: String]) -> String? {
        let name = command(target).first ?? ""
        return find(name, for: target, environment) == nil
            ? "there is no program '\(name)'; install it, or write its path" : nil
    }

    private static func command(_ target: NotifyTarget) -> [String] {
        target.way == .mail ? ["sendmail", "-t", "-i"] : target.command
    }

    private static func path(_ environment: [String: String]) -> String {
        environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    }

    private static func find(
        _ name: String, for target: NotifyTarget, _ environment: [String: String]
    ) -> FilePath? {
        guard !name.contains("/") else { return FilePath(name) }
        let path = path(environment) + (target.way == .mail ? ":\(mailPlaces)" : "")
        return Program.find(name, in: path)
    }

    func send(_ message: Message, to target: NotifyTarget) -> Delivery {
        let command = Self.command(target)
        let input =
            target.way == .mail ? message.mail(to: target.recipients, from: target.sender) : message.json
        guard let name = command.first, let executable = Self.find(name, for: target, environment) else {
            let problem = Self.problem(with: target, environment)
            return Delivery(isTaken: false, said: problem ?? "it names no program")
        }
        let id = message.notice.id
        let files = ["in", "out", "err"].map { folder.appending("\(id).\($0)") }
        defer { for file in files { file.withPlatformString { _ = unlink($0) } } }
        let program = Program(
            executable, arguments: command.map { Array($0.utf8) }, environment: variables(message),
            folder: "/", output: files[1], error: files[2], grace: Self.grace)
        do throws(IOError) {
            try Folder.makeOwn(folder, mode: 0o700)
            let file = try OpenFile.open(files[0], O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
            try file.write(Array(input.utf8))
            lseek(file.descriptor, 0, SEEK_SET)
            return run(program, input: file.descriptor, name)
        } catch {
            return Delivery(isTaken: false, said: "\(error)")
        }
    }

    private func run(_ program: Program, input: Int32, _ name: String) -> Delivery {
        let deadline = MonotonicTime.now() + Self.patience
        do throws(Program.StartFailure) {
            let outcome = try program.run(input: input, tail: Self.mostSaid) {
                isStopped() || MonotonicTime.now() > deadline
            }
            return delivery(outcome, name)
        } catch {
            let reason = if case .program(let error) = error { "\(error)" } else { "it cannot be confined" }
            return Delivery(isTaken: false, said: "'\(name)' cannot be started: \(reason)")
        }
    }

    private func delivery(_ outcome: Program.Outcome, _ name: String) -> Delivery {
        let text = String(decoding: outcome.error.tail + outcome.output.tail, as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let end =
            switch outcome.end {
            case .exited(let status): "'\(name)' ended with status \(status)"
            case .signalled(let number): "'\(name)' ended with signal \(number)"
            case .lost: "'\(name)' was killed"
            }
        let limit = Self.patience.text
        let reason = outcome.wasStopped ? (isStopped() ? ", broken off" : ", stopped after \(limit)") : ""
        return Delivery(isTaken: outcome.end == .exited(0), said: end + reason + (text.isEmpty ? "" : ": \(text)"))
    }

    private func variables(_ message: Message) -> [[UInt8]] {
        var variables = ["PATH=\(Self.path(environment))", "LANG=\(environment["LANG"] ?? "C.UTF-8")"]
        if let home = environment["HOME"] { variables.append("HOME=\(home)") }
        variables += [
            "DROPMILL_ID=\(message.notice.id)", "DROPMILL_EVENT=\(message.notice.event)",
            "DROPMILL_PIPELINE=\(message.notice.pipeline)",
        ]
        return variables.map { Array($0.utf8) }
    }

    /// Removes what an earlier run has left.
    func tidy() {
        do throws(IOError) {
            let open = try Folder.open(folder)
            for name in try Folder.names(in: folder) { name.withCString { _ = unlinkat(open.file.descriptor, $0, 0) } }
        } catch {
            // There is none.
        }
    }
}

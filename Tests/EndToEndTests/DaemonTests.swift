import Glibc
import TestSupport
import Testing

/// Tests of a daemon in a folder of its own, with the pipelines in `pipelines`.
protocol DaemonTests {
    var scratch: ScratchFolder { get }
}

extension DaemonTests {
    /// Writes the file of a pipeline, `more` being further lines.
    func write(_ name: String, inbox: String? = nil, stages: String = "[checksum]", _ more: String = "") throws {
        let folders = "inbox: \(inbox ?? "\(name)-in")\nprocessed: \(name)-done\nfailed: \(name)-failed\n"
        try scratch.write(
            folders + "ready: { quiet: 50ms }\nstages: \(stages)\n" + more, to: "pipelines/\(name).yaml")
    }

    /// A daemon that answers.
    func start() async throws -> DropmillProcess {
        let daemon = try DropmillProcess(["run"], in: scratch.path, log: scratch.path("log"))
        try #require(await eventually { try run("status").text.hasPrefix("running since") })
        return daemon
    }

    func run(_ arguments: String...) throws -> Tool.Output {
        try Tool(DropmillProcess.binary).run(arguments, in: scratch.path)
    }

    func stop(_ daemon: inout DropmillProcess) throws {
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
    }
}

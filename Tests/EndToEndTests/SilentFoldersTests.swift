import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// A pipeline of several has its folders on a file system that does not answer.
@Suite(
    .timeLimit(.minutes(5)), .serialized,
    .enabled(if: SilentMount.isPossible, Comment(rawValue: SilentMount.skip)))
struct SilentFoldersTests: DaemonTests {
    let scratch: ScratchFolder
    private let reason: String

    init() throws {
        scratch = try ScratchFolder()
        reason = "'\(scratch.path("pipelines/mount/in").text)' does not answer"
        try write("a")
        try write("b", inbox: "mount/in")
    }

    @Test func theOthersStartAndItFollows() async throws {
        var mount = Optional(try SilentMount(at: scratch.path("pipelines/mount")))
        var daemon = try DropmillProcess(["run"], in: scratch.path, log: scratch.path("log"))
        try scratch.write("x", to: "pipelines/a-in/one")
        #expect(await eventually(within: .seconds(60)) { scratch.exists("pipelines/a-done/one") })
        let words = "b.yaml is not started: \(reason)"
        #expect(try daemon.hasLogged("warning", words))
        #expect(try await eventually { try run("health").text.contains(words) })
        #expect(try run("health").status == 1)
        let status = try run("status")
        #expect(status.text.contains(words), "\(status.text)")
        let explanation = try run("explain", "pipelines/a-in/two")
        #expect(explanation.text.contains("every name is taken") && !explanation.text.contains("reload"))
        #expect(try run("pause", "b").text.contains("b: paused by "), "also before it begins")
        let lost = try run("explain", "pipelines/mount/in/two")
        #expect(lost.status == 75 && lost.text.contains("mount/in/two' does not answer"), "\(lost.text)")
        #expect(try run("doctor").text.contains("so nothing of this pipeline was examined"))
        let check = try run("check")
        #expect(check.status == 75 && check.text.contains("b.yaml:1:1: error: \(reason)"), "\(check.text)")
        mount?.giveUp()
        mount = nil
        try scratch.write("x", to: "drops/two")
        #expect(await eventually(within: .seconds(60)) { scratch.exists("pipelines/mount/in") })
        try scratch.write("x", to: "pipelines/mount/in/two")
        #expect(try await eventually { try run("status").text.contains("the pipeline is paused by") })
        #expect(try run("resume", "b").status == 0)
        #expect(await eventually { scratch.exists("pipelines/b-done/two") })
        #expect(try await eventually { try run("health").status == 0 })
        #expect(try daemon.hasLogged("reloaded", "b: added"))
        try stop(&daemon)
    }

    @Test func whatDoesNotComeBackIsGivenUp() async throws {
        try write("b", inbox: "mount/in", stages: "[run: { command: [sleep, '600'] }]")
        try Folder.make(scratch.path("pipelines/mount"))
        var daemon = try await start()
        try scratch.write("x", to: "pipelines/mount/in/one")
        #expect(try await eventually { try run("jobs", "--state", "running").text.contains("one") })
        try daemon.end()
        let mount = try SilentMount(at: scratch.path("pipelines/mount"))
        let forgotten = try run("forget", "one")
        #expect(forgotten.status == 0 && forgotten.text.contains("does not answer, and stays"), "\(forgotten.text)")
        #expect(try run("jobs", "--state", "lost").text.contains("one"))
        mount.giveUp()
    }

    @Test func aRunOfWhatIsThereNowEnds() async throws {
        let mount = try SilentMount(at: scratch.path("pipelines/mount"))
        try scratch.write("x", to: "pipelines/a-in/one")
        let once = try run("run", "--once")
        #expect(once.status == 1 && once.text.contains("b.yaml is not started: \(reason)"), "\(once.text)")
        #expect(scratch.exists("pipelines/a-done/one"))
        let alone = try run("run", "--once", "pipelines/b.yaml")
        #expect(alone.status == 1, "\(alone.text)")
        mount.giveUp()
    }

    @Test func verbsWithoutADaemonAnswer() throws {
        let mount = try SilentMount(at: scratch.path("pipelines/mount"))
        let explanation = try run("explain", "pipelines/a-in/two")
        #expect(explanation.text.contains("warning: pipelines/b.yaml is left out: \(reason)"), "\(explanation.text)")
        #expect(explanation.text.contains("every name is taken"))
        let lost = try run("explain", "pipelines/mount/in/two")
        #expect(lost.status == 75 && lost.text.contains("mount/in/two' does not answer"), "\(lost.text)")
        let doctor = try run("doctor")
        #expect(
            doctor.status == 1 && doctor.text.contains("so nothing of this pipeline was examined"), "\(doctor.text)")
        mount.giveUp()
    }

    @Test func aStartThatWaitsForThemIsEndedByASignal() async throws {
        let mount = try SilentMount(at: scratch.path("pipelines/mount"))
        var daemon = try DropmillProcess(["run"], in: scratch.path, log: scratch.path("log"))
        #expect(try await eventually { try daemon.holdsBack(SIGTERM) })
        try daemon.send(SIGTERM)
        #expect(try await eventually(within: .seconds(10)) { try daemon.hasEnded() })
        #expect(try daemon.wait() == 128 + SIGTERM)
        mount.giveUp()
    }
}

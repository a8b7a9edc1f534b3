import ArgumentParser
import Doctor
import Files
import Glibc
import PipelineConfig
import PipelineKit

/// `dropmill doctor`: tries in every folder what the daemon does there.
struct DoctorCommand: StageVerb {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Try everything the daemon needs: folders, programs, services; and query the running daemon.",
        discussion: """
            Leaves nothing behind and does not disturb a running daemon: test files have hidden names and are removed \
            at once. Run it as the daemon's user, because rights and limits differ by user. Exits with status 1 if \
            something does not work.

            With --unit it also reads the systemd unit 'dropmill' with its drop-ins, and says which folder they do not \
            open and which line takes something away.

            Example: as the user of the systemd unit:

              sudo -u dropmill dropmill doctor --unit /etc/dropmill/pipelines --state-dir /var/lib/dropmill
            """)

    @OptionGroup var pipelines: PipelineArguments
    @OptionGroup var state: StateArguments
    @OptionGroup var settings: SettingsOption

    @Flag(help: "Print one JSON object: 'user', 'problems', 'surroundings' and 'pipelines'.")
    var json = false

    @Flag(help: "Also say what the systemd unit 'dropmill' and its drop-ins take away.")
    var unit = false

    func run(with stages: StageRegistry) throws {
        // Somebody may open for writing what a lease was just taken on; the signal of that would end the program.
        signal(SIGIO, SIG_IGN)
        let reading = try PipelineArguments.reading(
            pipelines.given, stages, but: FilesInForce(asking: state.folder(for: pipelines.paths))?.silent ?? [],
            isWarned: false)
        let pipelines = try PipelineArguments.orReport(reading.pipelines)
        let settings = SettingsExamination(
            settings.place, for: self.pipelines.given, by: PipelineArguments.loader(stages))
        let interruption = Interruption(isPatient: true)
        let report = Self.examine(
            pipelines, reading.silent, settings, state: state.folder(for: self.pipelines.paths),
            unit ? UnitCheck(InstalledUnit.read()) : nil, interruption)
        // A pending signal ends the program here, when no test file is left in any folder.
        interruption.allow()
        if json { print(report.json) } else { for line in report.lines { print(line) } }
        if report.problems > 0 { throw ExitStatus.failure }
    }

    private static func examine(
        _ pipelines: [Pipeline], _ silent: [PipelineReading.Silence], _ settings: SettingsExamination,
        state: StateFolder, _ unit: UnitCheck?, _ interruption: Interruption
    ) -> DoctorReport {
        let daemon = DaemonExamination(of: state, pipelines)
        let examination = Examination(running: daemon.running) { interruption.isAskedFor }
        // A daemon that runs has its watches already.
        let watches = daemon.isRunning == true ? 0 : pipelines.reduce(0) { $0 + Examination.watches(of: $1) }
        let surroundings = examination.surroundings(
            state: state.path, watches: watches, trusting: pipelines.flatMap(\.trust))
        let others = [settings.place, settings.archive, daemon.place].compactMap(\.self)
        var places = surroundings + others.filter { !$0.findings.isEmpty }
        var examined = pipelines.map { examination.pipeline($0) } + silent.map { ExaminedPipeline(silent: $0) }
        if let user = Self.otherUser(of: state) {
            places = places.map { $0.found(insteadOf: user) }
            examined = examined.map { pipeline in
                ExaminedPipeline(name: pipeline.name, places: pipeline.places.map { $0.found(insteadOf: user) })
            }
        }
        if let unit {
            places = places.map { ["state", "archive"].contains($0.role) ? unit.examine($0) : $0 } + [unit.place]
            examined = examined.map { unit.examine($0) }
        }
        return DoctorReport(
            user: CurrentUser.name, isRunning: daemon.isRunning, surroundings: places, pipelines: examined)
    }

    /// The daemon's user, where that is neither this one nor one that root stands for.
    private static func otherUser(of state: StateFolder) -> String? {
        guard geteuid() != 0, let owner = FileStatus.of(state.path, followingLinks: true)?.st_uid, owner != geteuid()
        else { return nil }
        return AccountName.user(owner)
    }
}

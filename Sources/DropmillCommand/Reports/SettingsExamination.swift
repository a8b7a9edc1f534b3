import Doctor
import Files
import Glibc
import Notifications
import PipelineConfig
import PipelineKit
import Retention
import SystemPackage

/// What a start of this user would say of the daemon's settings.
struct SettingsExamination {
    let place: ExaminedPlace
    /// Where jobs are archived.
    private(set) var archive: ExaminedPlace?

    init(_ place: SettingsPlace, for pipelines: [FilePath], by loader: PipelineLoader) {
        let files = PipelineLoader.readSettings(place, for: pipelines)
        var findings: [Finding]
        do throws(ConfigProblems) {
            guard files.problems.isEmpty else { throw ConfigProblems(files.problems) }
            let settings = try loader.settings(of: files)
            findings = Self.findings(on: settings, areGiven: files.settings != nil)
            archive = settings.history.archive.map {
                ExaminedPlace(role: "archive", path: $0, findings: [Self.archiving(in: $0)])
            }
        } catch {
            findings = error.all.map { problem in
                .problem(
                    .file, "line \(problem.position.line), column \(problem.position.column): \(problem.message)",
                    "Until then a start and a reload are refused; 'dropmill check' checks it again")
            }
        }
        self.place = ExaminedPlace(
            role: "settings", path: files.settings?.path ?? files.problems.first?.path, findings: findings)
    }

    private static func findings(on settings: ServiceSettings, areGiven: Bool) -> [Finding] {
        guard areGiven else { return [.good(.file, "no \(SettingsPlace.fileName) was found, so all is as usual")] }
        let group = settings.controlGroup.map { AccountName.group($0) }
        let rights = group.map { "the group \($0) may \(settings.controlGroupMay.rawValue), " } ?? ""
        let found = Finding.good(.file, "\(rights)what rests for \(settings.stall.text) is stalled")
        let notifying = notifying(settings.notify)
        guard let group, let number = settings.controlGroup, geteuid() != 0, CurrentUser.lacks(number) else {
            return [found] + notifying
        }
        let user = CurrentUser.name
        return [
            found,
            .problem(
                .user, "\(user) is no member of 'control_group: \(group)'",
                "Add it (usermod -aG \(group) \(user)) and start Dropmill again; or run this as the daemon's user"),
        ] + notifying
    }

    private static func archiving(in folder: FilePath) -> Finding {
        if let problem = JobArchive.problem(with: folder) { return .problem(.rights, problem.fact, problem.remedy) }
        return .good(.rights, "jobs can be archived here before the history ends with them")
    }

    /// Who is notified, and what would keep messages from being sent.
    private static func notifying(_ plan: NotifyPlan) -> [Finding] {
        let targets = plan.rules.map { rule in
            let subject = "notify[\(rule.number)] (\(rule.target.shown))"
            return NoticeSender.problem(with: rule.target, Environment.variables).map { problem in
                Finding.problem(.program, "\(subject): \(problem)", "Correct its 'to'")
            } ?? .good(.program, "\(subject) tells of \(rule.events.map(\.rawValue).sorted().joined(separator: ", "))")
        }
        return targets
            + plan.pings.map { .good(.program, "notify[\($0.number)] (\($0.shown)) is told every \($0.every.text)") }
    }
}

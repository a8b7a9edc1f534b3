import Doctor
import PipelineKit

extension ExaminedPlace {
    /// The same for a user other than the daemon's: what that user may not do is no problem.
    func found(insteadOf user: String) -> ExaminedPlace {
        let judged = findings.map { finding in
            guard finding.check == .rights, finding.grade == .problem else { return finding }
            return Finding.note(
                .rights, "\(finding.fact); for the daemon's user it may be another thing",
                "Run this as \(user), the daemon's user")
        }
        return ExaminedPlace(role: role, path: path, findings: judged)
    }
}

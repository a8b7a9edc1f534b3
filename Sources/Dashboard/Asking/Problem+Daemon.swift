import Control

extension Problem {
    /// Why the daemon gave no answer, or what it said instead.
    init(_ problem: ControlClient.Problem, isChange: Bool) {
        let subject = "daemon"
        if problem.isAbsent {
            self.init(
                .serviceUnavailable, "daemon.down", "the daemon is not running", subject: subject,
                remedy: "Start it: 'systemctl start dropmill' where it is a service.", retryAfter: 3)
        } else if problem.isForbidden {
            self.init(
                .serviceUnavailable, "daemon.forbids", problem.message, subject: subject,
                remedy: isChange
                    ? "Make this server's user a member of 'control_group', and set 'control_group_may: change'."
                    : "Make this server's user a member of 'control_group'.")
        } else if problem.isCrowded {
            self.init(
                .serviceUnavailable, "daemon.busy", problem.message, subject: subject, remedy: "Try again.",
                retryAfter: 3)
        } else if problem.isAnswer {
            self.init(
                .conflict, "daemon.refused", problem.message, subject: subject,
                remedy: "Do what it says, or ask for else.")
        } else {
            self.init(
                .serviceUnavailable, problem.isLate ? "daemon.late" : "daemon.trouble", problem.message,
                subject: subject, remedy: "Try again; 'dropmill status' on that host says more.", retryAfter: 3)
        }
    }
}

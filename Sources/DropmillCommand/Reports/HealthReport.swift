import Control
import Files
import Journal
import PipelineKit

/// What is wrong with a daemon, for a monitor.
struct HealthReport {
    /// Whether the state folder is held.
    let isRunning: Bool
    private(set) var problems: [String] = []
    /// What is well, in a few words.
    private(set) var summary = ""

    /// `folder`: the state folder, as it is told.
    init(isRunning: Bool, in folder: String, _ answer: () throws(ControlClient.Problem) -> HealthVerb.Answer) {
        self.isRunning = isRunning
        guard isRunning else {
            problems = ["no daemon is running with the state folder '\(folder)'"]
            return
        }
        do throws(ControlClient.Problem) {
            add(try answer())
        } catch  where error.isCrowded {
            summary = "it serves others"
        } catch {
            problems = [error.message]
        }
    }

    private mutating func add(_ answer: HealthVerb.Answer) {
        summary =
            (answer.stopping == true ? "stopping; " : "")
            + "\(answer.pipelines) pipeline\(answer.pipelines == 1 ? "" : "s"), "
            + "\(answer.jobs) unfinished job\(answer.jobs == 1 ? "" : "s")"
        problems += answer.problems
    }

    /// Nobody can say how old the drops of these pipelines are.
    mutating func add(silent pipelines: some Sequence<String>) {
        problems += pipelines.sorted().map { "the age of the drops of \($0) is unknown: its inbox does not answer" }
    }

    /// `oldest`: how long the oldest drop is known that is not through.
    mutating func judge(oldest: Duration?, limit: Duration) {
        guard let oldest, oldest > limit else { return }
        problems.append("a drop is not through after \(oldest.text); \(limit.text) are allowed")
    }

    /// `failed`: how many failed in the last hour, counted up to one more than the limit.
    mutating func judge(failed: Int, limit: Int) {
        guard failed > limit else { return }
        problems.append("more than \(limit) job\(limit == 1 ? "" : "s") failed within the last hour")
    }

    mutating func add(_ problem: String) { problems.append(problem) }

    var isWell: Bool { problems.isEmpty }

    /// One line, without line breaks of any origin.
    var text: String {
        EscapedText.printable(isWell ? "well: \(summary)" : "not well: \(problems.joined(separator: "; "))")
    }

    var json: String {
        var json = JSONText()
        json.object { json in
            json.flag("well", isWell)
            json.array("problems") { json in for problem in problems { json.text(nil, problem) } }
            if !summary.isEmpty { json.text("summary", summary) }
        }
        return json.string
    }
}

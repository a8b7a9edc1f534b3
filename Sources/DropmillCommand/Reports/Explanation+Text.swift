import Files
import SystemPackage

// For people.
extension Explanation {
    var lines: [String] { headline + accounts.flatMap { [""] + lines(of: $0) } + jobLines }

    private var headline: [String] {
        let subject = file.text
        switch place {
        case .inbox: return ["\(subject): \(verdict)"]
        case .name:
            let takers = accounts.filter(\.isTaken).map(\.pipeline.name)
            guard !takers.isEmpty else { return ["\(subject): no pipeline takes a file with this name"] }
            return ["\(subject): if dropped into its inbox, it is taken by \(takers.joined(separator: ", "))"]
        case .work(let index, _):
            return ["\(subject): claimed by the pipeline \(pipelines[index].name), in its work folder"]
        case .settled(let index, let key, _):
            let isThere = Folder.kind(of: file) != nil
            let place = "where the pipeline \(pipelines[index].name) puts files ('\(key)')"
            return ["\(subject): \(isThere ? "is" : "would be") \(place)"]
        case .elsewhere:
            let inboxes = Self.aligned(pipelines.map { ($0.name, $0.inbox.shortText) }, indent: "  ")
            return ["\(subject): not in a folder of any pipeline, so nothing takes it; the inboxes are:"] + inboxes
        }
    }

    private var verdict: String {
        guard let account = accounts.first else { return "" }
        let name = account.pipeline.name
        if account.isMarker { return "a marker for the pipeline \(name)" }
        guard account.isTaken else { return "in the inbox of \(name), which leaves it alone" }
        guard let standing = account.standing, !standing.isTaken else { return "a drop for the pipeline \(name)" }
        return "in the inbox of \(name), which leaves it alone in its present state"
    }

    private var jobLines: [String] {
        guard let job else {
            if case .settled = place { return ["the journal has no record of a job that put it there"] }
            return []
        }
        let what =
            switch place {
            case .inbox: "the newest job of this name"
            default: "its job"
            }
        return ["", "\(what): \(job.id.text), \(job.word)", "  dropmill show \(job.id.text)"]
            + (slot.map { ["  \(EscapedText.printable($0))"] } ?? [])
    }

    private static let fromHere = " (observed here, not reported by a daemon)"

    private func lines(of account: Account) -> [String] {
        var facts = [("pipeline", "\(account.pipeline.name) (\(account.pipeline.source.shortText))")]
        facts.append((account.isTaken ? "taken" : "not taken", account.rule))
        if let standing = account.standing {
            facts.append(
                ("now", standing.text + (standing.isFromDaemon || standing.code == "gone" ? "" : Self.fromHere)))
        }
        if let silence { facts.append(("daemon", silence)) }
        guard account.isTaken, account.standing?.isTaken ?? true else { return Self.aligned(facts, indent: "  ") }
        let steps = Itinerary(of: account, now: now).steps.flatMap { step in
            [(step.title, step.text)] + step.notes.map { ("", "→ \($0)") }
        }
        return Self.aligned(facts, indent: "  ") + ["", "  What happens to it:"] + Self.aligned(steps, indent: "    ")
    }

    private static func aligned(_ pairs: [(String, String)], indent: String) -> [String] {
        let width = pairs.map(\.0.count).max() ?? 0
        return pairs.map { "\(indent)\($0.padded(to: width))  \(EscapedText.printable($1))" }
    }
}

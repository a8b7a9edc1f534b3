import PipelineKit

// For programs.
extension Explanation {
    /// The keys of one object: `file`, `place`, `taken`, `pipelines` and `job`.
    func write(_ json: inout JSONText) {
        json.name("file", file.bytes)
        json.text("place", placeWord)
        json.flag("taken", isTaken)
        if let silence { json.text("silence", silence) }
        json.array("pipelines") { json in
            for account in accounts { json.object { write(account, &$0) } }
        }
        if let job {
            json.object("job") { json in
                json.text("id", job.id.text)
                json.text("state", job.word)
            }
        }
    }

    private var placeWord: String {
        switch place {
        case .inbox: "inbox"
        case .work: "work"
        case .settled(_, let key, _): key
        case .name: "name"
        case .elsewhere: "elsewhere"
        }
    }

    private func write(_ account: Account, _ json: inout JSONText) {
        json.text("name", account.pipeline.name)
        json.flag("taken", account.isTaken)
        json.text("rule", account.rule)
        if let standing = account.standing {
            json.object("now") { json in
                json.text("why", standing.code)
                json.text("text", standing.text)
                json.flag("from_daemon", standing.isFromDaemon)
            }
        }
        guard account.isTaken else { return }
        json.array("steps") { json in
            for step in Itinerary(of: account, now: now).steps {
                json.object { json in
                    json.text("step", step.title)
                    json.text("text", step.text)
                    json.flag("skipped", step.isSkipped)
                    json.object("targets") { json in
                        for (option, path) in step.targets.sorted(by: { $0.key < $1.key }) {
                            json.name(option, path.bytes)
                        }
                    }
                }
            }
        }
    }
}

extension HealthVerb.Answer {
    /// What is wrong with the daemon, a sentence each; none where it is well.
    package var problems: [String] {
        var problems: [String] = []
        problems += paused.sorted { $0.key < $1.key }.map { "\($0.key) is paused: \($0.value)" }
        problems += stalled.sorted { $0.key < $1.key }.map { "\($0.key) is stalled: \($0.value)" }
        problems += (silent ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key) is not started: \($0.value)" }
        if let refused = refused {
            let rest = refused.count > 1 ? " (and \(refused.count - 1) more)" : ""
            problems.append("the last reload was refused: \(refused.first ?? "")\(rest)")
        }
        if let journal = journal { problems.append("the journal cannot be written: \(journal)") }
        return problems
    }
}

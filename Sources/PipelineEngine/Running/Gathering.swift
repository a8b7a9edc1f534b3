import Synchronization

/// Gathers what inboxes report, and reports it once: when all have, or the time is over.
final class Gathering<Value: Sendable>: Sendable {
    /// What was reported, by pipelines' names, and of which nothing has come.
    typealias Report = @Sendable (_ found: [String: Value], _ missing: Set<String>) -> Void

    private let state: Mutex<(found: [String: Value], missing: Set<String>)?>
    private let report: Report

    init(of names: [String], _ report: @escaping Report) {
        state = Mutex(([:], Set(names)))
        self.report = report
        if names.isEmpty { end() }
    }

    func add(_ value: Value, _ name: String) {
        let isLast = state.withLock { state in
            state?.found[name] = value
            state?.missing.remove(name)
            return state?.missing.isEmpty ?? false
        }
        if isLast { end() }
    }

    func end() {
        let gathered = state.withLock { state in
            defer { state = nil }
            return state
        }
        if let gathered { report(gathered.found, gathered.missing) }
    }
}

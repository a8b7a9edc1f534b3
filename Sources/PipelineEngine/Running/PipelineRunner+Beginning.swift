import PipelineKit

/// How a pipeline goes on with what earlier runs left.
extension PipelineRunner {
    func found(_ prepared: Engine.Prepared) {
        found = prepared.findings
        works = prepared.works
        foundCount = prepared.findings.resumed.count + prepared.findings.adopted.count
        parked = prepared.findings.parked + prepared.findings.stranded.count
    }

    /// Has jobs wait that must run alone.
    func enterSuspects() {
        guard let all = found?.resumed, all.contains(where: \.isQuarantined) else { return }
        found?.resumed = all.filter { !$0.isQuarantined }
        for resumed in all where resumed.isQuarantined {
            intake.reserve([resumed.job])
            enter(resumed)
        }
        endTurn()
    }

    /// Goes on with all else, but for what the intake takes in when it begins.
    func begin() {
        guard let found else { return }
        self.found = nil
        if !intake.spool.isTail {
            observer(.started(pipeline: pipeline.name, inbox: pipeline.inbox, adopted: foundCount))
            if let hold { observer(.held(hold)) }
            if let outside { observer(.closed(pipeline: pipeline.name, outside.text(at: .now()))) }
        }
        note()
        adopted = found.adopted
        intake.reserve(found.resumed.map(\.job))
        for resumed in found.resumed { enter(resumed) }
        endTurn()
    }

    /// Goes on with what another node has left.
    func takeIn(_ findings: Recovery.Findings) {
        findings.warnings.forEach(warn)
        parked += findings.parked
        intake.reserve(findings.resumed.map(\.job))
        for resumed in findings.resumed { enter(resumed) }
        intake.takeIn(findings.adopted)
        endTurn()
    }
}

extension Recovery.Resumed {
    /// The same where its pipeline was changed before it went on.
    func goingOn(under pipeline: Pipeline) -> Self {
        var record = record
        record.pass(to: pipeline.name, at: .now())
        if case .settling = state {
            return Self(
                job: job.passed(to: pipeline.name), record: record, state: state, isQuarantined: isQuarantined,
                seal: seal)
        }
        record.goOn(under: pipeline.definition, at: .now()) { _ in true }
        return Self(
            job: job.passed(to: pipeline.name), record: record,
            state: record.progress ?? .queued(stage: 0, failures: 0),
            isQuarantined: isQuarantined, seal: seal)
    }
}

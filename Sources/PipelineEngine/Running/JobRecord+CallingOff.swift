package import Files
package import Journal
import PipelineKit

extension JobRecord {
    /// Calls the job off where no daemon has it: the next start that loads its pipeline settles it. By what is returned
    /// it is changed or not.
    package mutating func callOff(by person: String, at now: Timestamp) -> CallingOff {
        if let rest { return .absent(rest) }
        let outcome = CallingOff.waits("no daemon runs its pipeline '\(pipeline)'")
        guard !isCalledOff else { return outcome }
        guard state != .settling else { return .tooLate }
        note(.settling(.failed(.calledOff(by: person))), stages: definition.stages.count)
        calledOff(by: person, at: now)
        return outcome
    }

    /// Whether it is to settle for that.
    var isCalledOff: Bool { state == .settling && failure?.isCancel ?? false }

    /// Notes who called it off.
    mutating func calledOff(by person: String, at now: Timestamp) {
        history.append(Transition("cancelled", at: now, note: "by \(person)"))
    }

    /// Why nothing will go on with it: a sentence's end; nil where something may.
    var rest: String? {
        if state.isFinal { return "it is over: \(word)" }
        guard isLeftAlone else { return nil }
        return "it is left alone; 'dropmill show \(id)' says why, and 'dropmill forget \(id)' gives it up"
    }
}

import Control
import Journal
import PipelineEngine
import PipelineKit

extension ControlService {
    /// `queue`: its board tells of it as of a run of `retry`, so that who follows runs can follow it, too.
    static func dismissing(_ engine: Engine, _ queue: SendingQueue) -> [ControlHandler] {
        let board = queue.board
        return [
            ControlHandler(
                DismissVerb.self,
                blocking: { @Sendable order, peer throws(ControlProblem) in
                    let found = try queue.found(order, DismissVerb.name)
                    let named = found.map { SendingOrder(jobs: $0.jobs.map(\.text)) }
                    var answer = try ask(engine) { journal throws(JournalError) in
                        try DismissVerb.carryOut(named ?? order, in: journal, by: peer.name)
                    }
                    let run = board.begin(nil).run
                    board.note(run) { told in
                        told.results = answer.results.map { result in
                            SendingVerb.Result(job: result.job, text: result.text, isDone: result.isDismissed)
                        }
                        told.isOver = true
                    }
                    answer.run = run
                    return answer
                }),
            ControlHandler(
                DismissibleVerb.self,
                blocking: { @Sendable order, _ throws(ControlProblem) in
                    var jobs: [JobID] = []
                    var answer = try ask(engine) { journal throws(JournalError) in
                        try DismissVerb.rehearse(order, in: journal) { jobs = $0 }
                    }
                    answer.key = queue.keep(jobs, answer.found, of: order, DismissVerb.name)
                    return answer
                }),
        ]
    }

    private static func ask<Answer>(
        _ engine: Engine, _ body: (any Journal) throws(JournalError) -> Result<Answer, ControlProblem>
    ) throws(ControlProblem) -> Answer {
        let outcome: Result<Answer, ControlProblem>
        do throws(JournalError) {
            guard let journal = try engine.upToDateJournal() else {
                throw JournalError(.environment, "the daemon is starting or stopping; try again later")
            }
            outcome = try body(journal)
        } catch {
            throw ControlProblem(error.message)
        }
        return try outcome.get()
    }
}

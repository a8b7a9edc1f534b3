import Control
import Files
import Glibc
import Journal
import PipelineEngine
import PipelineKit

extension ControlService {
    static func reload(_ reloader: Reloader) -> ControlHandler {
        ControlHandler(ReloadVerb.self) { @Sendable _, _, reply in
            reloader.ask { @Sendable in reply(.success(.init($0))) }
        }
    }

    /// Reloads as the signal asks; nothing says who sent it. On record afterwards: no disk may hold up signals.
    static func reloadBySignal(_ reloader: Reloader, _ record: ControlRecord) {
        reloader.ask { @Sendable outcome in
            record.note(
                AuditEntry(
                    user: geteuid(), name: CurrentUser.name, verb: ReloadVerb.name, arguments: #"{"signal":"SIGHUP"}"#,
                    result: ReloadVerb.result(.init(outcome))))
        }
    }

    static func hold(_ engine: Engine) -> ControlHandler {
        ControlHandler(
            HoldVerb.self,
            blocking: { @Sendable arguments, peer throws(ControlProblem) in
                if let seconds = arguments.seconds, seconds <= 0 {
                    throw ControlProblem("'seconds' is \(seconds), and must be more than 0")
                }
                // More than the longest, so that it is refused as such; `Duration` cannot hold all numbers.
                let time = arguments.seconds.map { Duration.seconds($0.isFinite ? min($0, 1e9) : 1e9) }
                let order: HoldOrder
                do throws(HoldRefusal) {
                    order = try HoldOrder(
                        arguments.kind, by: peer.name, user: peer.user, reason: arguments.reason, for: time,
                        on: arguments.node)
                } catch {
                    throw ControlProblem(error.message)
                }
                do throws(EngineError) {
                    return .init(try engine.hold(arguments.pipelines, order))
                } catch {
                    throw ControlProblem(error.message)
                }
            })
    }

    static func cancel(_ engine: Engine) -> ControlHandler {
        ControlHandler(
            CancelVerb.self,
            blocking: { @Sendable arguments, peer throws(ControlProblem) in
                let ids = try ids(arguments.jobs)
                do throws(EngineError) {
                    let (outcomes, unwritten) = try engine.callOff(ids, by: peer.name)
                    let results = zip(ids, outcomes).map { CancelVerb.Result($0, $1) }
                    return .init(results: results, problem: unwritten.map(unrecorded))
                } catch {
                    throw ControlProblem(error.message)
                }
            })
    }

    static func release(_ engine: Engine) -> ControlHandler {
        ControlHandler(
            ReleaseVerb.self,
            blocking: { @Sendable arguments, peer throws(ControlProblem) in
                let ids = try ids(arguments.jobs)
                do throws(EngineError) {
                    let outcomes = try engine.release(ids, by: peer.name)
                    return .init(results: zip(ids, outcomes).map { ReleaseVerb.Result($0, $1) })
                } catch {
                    throw ControlProblem(error.message)
                }
            })
    }

    static func preview(_ engine: Engine) -> ControlHandler {
        ControlHandler(
            PreviewVerb.self,
            blocking: { @Sendable arguments, _ throws(ControlProblem) in
                let ids = try ids(arguments.jobs)
                do throws(EngineError) {
                    let refusals =
                        switch arguments.change {
                        case .cancel: try engine.previewCallOff(ids).map(\.refusal)
                        case .release: try engine.release(ids, by: nil).map(\.refusal)
                        case .forget: engine.presence(of: ids)
                        }
                    return .init(results: zip(ids, refusals).map { .init(job: $0.text, refusal: $1) })
                } catch {
                    throw ControlProblem(error.message)
                }
            })
    }

    /// Jobs' ids, each once.
    @Sendable private static func ids(_ texts: [String]) throws(ControlProblem) -> [JobID] {
        var ids: [JobID] = []
        for text in texts {
            guard let id = JobID(text) else { throw ControlProblem("'\(EscapedText.of(text))' is no job's id") }
            if !ids.contains(id) { ids.append(id) }
        }
        return ids
    }

    static func bump(_ engine: Engine) -> ControlHandler {
        ControlHandler(BumpVerb.self, blocks: true) { @Sendable arguments, _, reply in
            let isLast = arguments.isLast
            let answer = { @Sendable (outcome: Result<String, EngineError>) in
                reply(outcome.map { .init(text: $0) }.mapError { ControlProblem($0.message) })
            }
            switch arguments.waiting {
            case .drop(let drop): engine.bump(Array(drop.path), of: drop.pipeline, last: isLast, answer)
            case .job(let text):
                guard let id = JobID(text) else {
                    return reply(.failure(ControlProblem("'\(EscapedText.of(text))' is no job's id")))
                }
                answer(Result { () throws(EngineError) in try engine.bump(id, last: isLast) })
            }
        }
    }

    private static func unrecorded(_ error: JournalError) -> String {
        "that they are cancelled is not on record: until it is, a crash of the daemon would have them go on. "
            + "\(error.message) \(error.remedy)"
    }
}

extension ReloadVerb.Answer {
    init(_ outcome: Reloader.Outcome) {
        switch outcome {
        case .taken(let changes, let settings, let warnings):
            self.init(
                changes: changes.map { .init(pipeline: $0.pipeline, text: $0.text) }, settings: settings,
                warnings: warnings.isEmpty ? nil : warnings)
        case .refused(let problems): self.init(problems: problems)
        case .stopping: self.init(problems: ["the daemon is stopping"], stopping: true)
        }
    }
}

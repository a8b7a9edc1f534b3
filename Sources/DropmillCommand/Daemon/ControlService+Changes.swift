import Files
import Journal
import PipelineEngine
import PipelineKit

extension ControlService {
    static func reload(_ reloader: Reloader) -> ControlHandler {
        ControlHandler(ReloadVerb.self) { @Sendable _, _, reply in
            reloader.ask { @Sendable outcome in
                switch outcome {
                case .taken(let changes):
                    reply(.success(.init(changes: changes.map { .init(pipeline: $0.pipeline, text: $0.text) })))
                case .refused(let problems): reply(.success(.init(problems: problems)))
                }
            }
        }
    }

    static func hold(_ engine: Engine) -> ControlHandler {
        ControlHandler(
            HoldVerb.self,
            blocking: { @Sendable arguments, peer throws(ControlProblem) in
                // More than the longest, so that it is refused as such; `Duration` cannot hold all numbers.
                let time = arguments.seconds.map { Duration.seconds($0.isFinite ? min(max($0, -1), 1e9) : 1e9) }
                let order: HoldOrder
                do throws(HoldRefusal) {
                    order = try HoldOrder(
                        arguments.kind, by: peer.name, user: peer.user, reason: arguments.reason, for: time)
                } catch {
                    throw ControlProblem(error.message)
                }
                do throws(EngineError) {
                    return .init(lines: try engine.hold(arguments.pipelines, order).lines)
                } catch {
                    throw ControlProblem(error.message)
                }
            })
    }

    static func cancel(_ engine: Engine) -> ControlHandler {
        ControlHandler(
            CancelVerb.self,
            blocking: { @Sendable arguments, peer throws(ControlProblem) in
                var ids: [JobID] = []
                for text in arguments.jobs {
                    guard let id = JobID(text) else { throw ControlProblem("'\(EscapedText.of(text))' is no job's id") }
                    if !ids.contains(id) { ids.append(id) }
                }
                do throws(JournalError) {
                    let outcomes = try engine.callOff(ids, by: peer.name)
                    return .init(
                        results: zip(ids, outcomes).map {
                            .init(job: $0.text, isCancelled: $1.isCancelled, text: $1.text)
                        })
                } catch {
                    throw ControlProblem("\(error.message) \(error.remedy)")
                }
            })
    }
}

extension CallingOff {
    fileprivate var isCancelled: Bool {
        switch self {
        case .settles, .stops: true
        case .tooLate, .unknown: false
        }
    }

    fileprivate var text: String {
        switch self {
        case .settles: "cancelled"
        case .stops(let stage): "cancelled; its stage '\(stage)' is being stopped"
        case .tooLate: "too late: it is being settled"
        case .unknown: "not at work: it is over, or its pipeline is not loaded; 'dropmill show' tells more"
        }
    }
}

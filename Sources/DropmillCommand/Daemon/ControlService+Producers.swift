import Control
import Files
import PipelineEngine
import PipelineKit

extension ControlService {
    static func producers(_ engine: Engine) -> ControlHandler {
        ControlHandler(ProducersVerb.self, blocks: true) { @Sendable arguments, _, reply in
            let names = engine.shared
            let limit = min(max(0, arguments.limit ?? ProducersVerb.most), ProducersVerb.most)
            if let name = arguments.pipeline, !names.contains(name) {
                return reply(
                    .failure(ControlProblem("no pipeline '\(EscapedText.of(name))' is loaded that has 'fair'")))
            }
            engine.reportProducers(of: arguments.pipeline, limit: limit) { @Sendable found in
                reply(
                    .success(
                        .init(
                            pipelines: names.compactMap { name in
                                found[name].map { producers, count in
                                    .init(
                                        name: name, producers: producers.map { .init($0) },
                                        more: count - producers.count)
                                }
                            })))
            }
        }
    }
}

extension ProducersVerb.Producer {
    fileprivate init(_ standing: ProducerStanding) {
        self.init(
            producer: standing.producer, waiting: standing.waiting, active: standing.active,
            processed: standing.processed, failed: standing.failed, oldest: standing.oldest?.seconds)
    }
}

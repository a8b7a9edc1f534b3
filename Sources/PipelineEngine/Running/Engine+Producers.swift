import Files
import PipelineKit

extension Engine {
    /// Reports how the producers of each pipeline stand that is shared, on a queue of the engine: those with the most
    /// that is not over first, at most `limit` of each. Inboxes that do not answer in time are left out. Costs one look
    /// at every drop that waits there.
    package nonisolated func reportProducers(
        of pipeline: String?, limit: Int, within patience: Duration = .seconds(4),
        _ report: @escaping @Sendable ([String: (producers: [ProducerStanding], count: Int)]) -> Void
    ) {
        enqueue { engine in
            let (now, silence) = (MonotonicTime.now(), min(engine.stall, Engine.longSilence))
            let asked = engine.runners.filter { runner in
                runner.pipeline.fair != nil && pipeline.map { $0 == runner.pipeline.name } ?? true
                    && !runner.movement.isSilent(for: silence, at: now)
            }
            let gathering = Gathering<[String: ProducerStanding]>(of: asked.map(\.pipeline.name)) {
                @Sendable [self] found, _ in
                enqueue { engine in
                    report(
                        Dictionary(
                            uniqueKeysWithValues: found.map { name, waiting in
                                let all = engine.standing(of: name, waiting).sorted {
                                    ($1.waiting + $1.active, $0.producer) < ($0.waiting + $0.active, $1.producer)
                                }
                                return (name, (Array(all.prefix(limit)), all.count))
                            }))
                }
            }
            for runner in asked {
                let name = runner.pipeline.name
                runner.intake.reportProducers { @Sendable in gathering.add($0, name) }
            }
            self.executor.queue.after(patience) { @Sendable in gathering.end() }
        }
    }

    /// The loaded pipelines that are shared.
    package nonisolated var shared: [String] {
        sync { engine in engine.runners.filter { $0.pipeline.fair != nil }.map(\.pipeline.name) }
    }

    private func standing(of name: String, _ waiting: [String: ProducerStanding]) -> [ProducerStanding] {
        var all = waiting
        let now = configuration.now()
        for runner in self.all where runner.last.pipeline.name == name {
            for active in runner.jobs.values {
                let producer = active.job.producer ?? FairRule.others
                let age = max(.zero, now - active.job.claimedAt)
                all[producer, default: ProducerStanding(producer)].active += 1
                let oldest = all[producer]?.oldest
                all[producer]?.oldest = max(oldest ?? age, age)
            }
        }
        for (producer, ends) in lately[name]?.producers.ends ?? [:] {
            all[producer, default: ProducerStanding(producer)].processed += ends.processed
            all[producer]?.failed += ends.failed
        }
        return Array(all.values)
    }
}

extension Intake {
    fileprivate nonisolated func reportProducers(_ report: @escaping @Sendable ([String: ProducerStanding]) -> Void) {
        enqueue { intake in
            let now = MonotonicTime.now()
            var all: [String: ProducerStanding] = [:]
            intake.ready.forEach { path, known, _ in
                let producer = intake.producer(of: path) ?? FairRule.others
                all[producer, default: ProducerStanding(producer)].waiting += 1
                let oldest = all[producer]?.oldest
                all[producer]?.oldest = max(oldest ?? now - known, now - known)
            }
            report(all)
        }
    }
}

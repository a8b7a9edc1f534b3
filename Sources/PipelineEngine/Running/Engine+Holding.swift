@preconcurrency import Dispatch
package import Journal
import PipelineKit

/// What people hold. It belongs to the engine, by the names of pipelines: each generation's runner is told.
extension Engine {
    /// Holds pipelines, or lifts that, as a person orders: those with these names, or all. Returns when it is on record
    /// and in force. Blocks.
    ///
    /// On record first: what is answered is so after a crash, too, and nothing is in force that would be gone then. A
    /// crash between the two does what was asked for.
    package nonisolated func hold(_ names: [String], _ order: HoldOrder) throws(EngineError) -> HoldChange {
        let taken = DispatchGroup()
        let result: Result<HoldChange, EngineError> = holding.sync {
            do throws(EngineError) {
                return .success(try carryOut(order, names, taken))
            } catch {
                return .failure(error)
            }
        }
        let change = try result.get()
        // An intake may be on a file system that does not answer, and claims nothing then.
        _ = taken.wait(timeout: .now() + 5)
        return change
    }

    private nonisolated func carryOut(
        _ order: HoldOrder, _ names: [String], _ taken: DispatchGroup
    ) throws(EngineError) -> HoldChange {
        let (state, loaded, before) = sync { engine in
            (
                engine.opened, engine.runners.map(\.pipeline.name) + engine.awaited.keys.sorted(),
                Array(engine.holds.values)
            )
        }
        guard let state else { throw .refused("the daemon is starting or stopping") }
        let change: HoldChange
        do throws(HoldRefusal) {
            change = try HoldChange(order, of: names, loaded: loaded, before: before, at: configuration.now())
        } catch {
            throw .refused(error.message)
        }
        do throws(JournalError) {
            try state.journal.change(change)
        } catch {
            throw EngineError(kind: .shortage, message: "\(error.message) Nothing was changed. \(error.remedy)")
        }
        sync { $0.apply(change, by: order.by, taken) }
        return change
    }

    /// Lifts holds whose time is over. Where that cannot be written down their time says the same.
    func endHolds() {
        let now = configuration.now()
        let change = HoldChange(over: holds.values.filter { $0.isOver(at: now) })
        guard !change.lifted.isEmpty else { return }
        apply(change, by: nil)
        record { _ in change }
    }

    /// Has pipelines work within their hours alone.
    func keepHours() {
        let now = configuration.now()
        for runner in all where runner.pipeline.hours != nil {
            runner.keepHours(at: now, tells: !runner.intake.spool.isTail && !runner.machine.isRetired)
            runner.endTurn()
        }
        finishIfDone()
    }

    /// Writes all of them down again, in a journal that does not know them.
    nonisolated func noteHolds() { record { engine in HoldChange(of: Array(engine.holds.values)) } }

    private nonisolated func record(_ made: @escaping @Sendable (isolated Engine) -> HoldChange) {
        holding.async { @Sendable [self] in
            let (journal, change) = sync { ($0.opened?.journal, made($0)) }
            do throws(JournalError) {
                try journal?.change(change)
            } catch {
                observer(.trouble(message: "\(error.message) \(error.remedy)"))
            }
        }
    }

    private func apply(_ change: HoldChange, by name: String?, _ taken: DispatchGroup = DispatchGroup()) {
        for hold in change.lifted where holds[hold.pipeline] == hold {
            holds[hold.pipeline] = nil
            observer(.lifted(hold, by: name))
            tell(hold.pipeline, taken)
        }
        for hold in change.held {
            holds[hold.pipeline] = hold
            observer(.held(hold))
            tell(hold.pipeline, taken)
        }
        finishIfDone()
    }

    /// Has what people hold under the names that these had formerly hold them under the present ones, which keep what
    /// they have; on record first. The body puts them in force, and no order comes between. Blocks.
    nonisolated func passHolds<Value: Sendable>(
        to pipelines: [Pipeline], _ journal: any Journal, _ body: () -> Value
    ) throws(EngineError) -> Value {
        let renamed = pipelines.compactMap { new in new.formerly.map { (old: $0, new: new.name) } }
        let result: Result<Value, EngineError> = holding.sync {
            let change = HoldChange(renamed: renamed, before: sync { $0.holds })
            do throws(JournalError) {
                if !change.lifted.isEmpty { try journal.change(change) }
            } catch {
                return .failure(EngineError(kind: .shortage, message: "\(error.message) \(error.remedy)"))
            }
            sync { engine in
                for hold in change.lifted { engine.holds[hold.pipeline] = nil }
                for hold in change.held { engine.holds[hold.pipeline] = hold }
            }
            return .success(body())
        }
        return try result.get()
    }

    private func tell(_ name: String, _ taken: DispatchGroup) {
        for runner in tails + runners where runner.pipeline.name == name {
            taken.enter()
            runner.hold(holds[name]) { @Sendable in taken.leave() }
            runner.endTurn()
        }
    }
}

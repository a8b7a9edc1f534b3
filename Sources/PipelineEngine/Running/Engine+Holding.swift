@preconcurrency import Dispatch
package import Journal
import PipelineKit

/// What people hold. It belongs to the engine, by the names of pipelines: each generation's runner is told. Where nodes
/// share the journal it says what that is, and each node looks again and again, or when it hears of an order.
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
        let (state, loaded) = sync { engine in
            (engine.opened, engine.runners.map(\.pipeline.name) + engine.awaited.keys.sorted())
        }
        guard let state else { throw .refused("the daemon is starting or stopping") }
        let now = configuration.now()
        let (before, nodes) = try orUnchanged { () throws(JournalError) in
            (try known(to: state.journal).filter { !$0.isOver(at: now) }, try state.shared?.names() ?? [])
        }
        let change: HoldChange
        do throws(HoldRefusal) {
            change = try HoldChange(order, of: names, loaded: loaded, before: before, nodes: nodes, at: now)
        } catch {
            throw .refused(error.message)
        }
        try orUnchanged { () throws(JournalError) in try state.journal.change(change) }
        sync { $0.obey(change.done(to: before), by: order.by, taken) }
        return change
    }

    private nonisolated func orUnchanged<Value>(
        _ body: () throws(JournalError) -> Value
    ) throws(EngineError) -> Value {
        do throws(JournalError) {
            return try body()
        } catch {
            throw EngineError(kind: .shortage, message: "\(error.message) Nothing was changed. \(error.remedy)")
        }
    }

    /// What is held: others may have ordered it, too, where nodes share the journal.
    private nonisolated func known(to journal: any Journal) throws(JournalError) -> [HoldRecord] {
        guard journal is any SharedJournal else { return sync { $0.orders } }
        return try journal.holds()
    }

    /// Lifts holds whose time is over. Where that cannot be written down their time says the same.
    func endHolds() {
        let now = configuration.now()
        let change = HoldChange(over: orders.filter { $0.isOver(at: now) })
        guard !change.lifted.isEmpty else { return }
        obey(change.done(to: orders), by: nil)
        record { _ in change }
    }

    /// Does what was ordered elsewhere, where nodes share the journal. As long as that does not answer all stays as it
    /// is. On the queue of orders; blocks.
    nonisolated func followOrders() {
        guard let shared = sharedJournal, let found = try? shared.holds() else { return }
        sync { engine in
            guard engine.opened != nil else { return }
            let now = engine.configuration.now()
            engine.obey(found.filter { !$0.isOver(at: now) }, by: "somebody on another host")
        }
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
    nonisolated func noteHolds() { record { engine in HoldChange(of: engine.orders) } }

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

    /// Puts it in force before anything runs.
    func adopt(_ orders: [HoldRecord], on node: String?) {
        (self.orders, self.node) = (orders, node)
        holds = orders.inForce(on: node)
    }

    /// `name`: who lifts what is not held any more, but for what is over.
    private func obey(_ orders: [HoldRecord], by name: String?, _ taken: DispatchGroup = DispatchGroup()) {
        let (before, now) = (holds, configuration.now())
        adopt(orders, on: node)
        for (pipeline, hold) in before.sorted(by: { $0.key < $1.key }) where holds[pipeline] == nil {
            observer(.lifted(hold, by: hold.isOver(at: now) ? nil : name))
            tell(pipeline, taken)
        }
        for (pipeline, hold) in holds.sorted(by: { $0.key < $1.key }) where before[pipeline] != hold {
            observer(.held(hold))
            tell(pipeline, taken)
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
            do throws(EngineError) {
                if !renamed.isEmpty { try orShortage { () throws(JournalError) in try pass(renamed, journal) } }
                return .success(body())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private nonisolated func pass(_ renamed: [(old: String, new: String)], _ journal: any Journal) throws(JournalError)
    {
        let before = try known(to: journal)
        let change = HoldChange(renamed: renamed, before: before)
        guard !change.lifted.isEmpty else { return }
        try journal.change(change)
        sync { $0.adopt(change.done(to: before), on: $0.node) }
    }

    private func tell(_ name: String, _ taken: DispatchGroup) {
        for runner in tails + runners where runner.pipeline.name == name {
            taken.enter()
            runner.hold(holds[name]) { @Sendable in taken.leave() }
            runner.endTurn()
        }
    }
}
